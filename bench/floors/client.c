/* The least an agent has to do, in C: one connection, an answer folded as it arrives, shell calls
 * started when their block is complete, and a history that stays encoded between steps.
 * It reads the streams of server.py only (one event per chunk, compact JSON) and checks nothing. */
#define _GNU_SOURCE /* pipe2 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CALLS 16
extern char **environ;

/* --- growing byte strings ------------------------------------------------------------------- */

typedef struct { char *data; size_t size, room; } Text;

static void append(Text *text, const char *data, size_t size) {
    if (text->size + size + 1 > text->room) {
        text->room = 2 * (text->size + size + 1);
        text->data = realloc(text->data, text->room);
    }
    memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
}

static void add(Text *text, const char *string) { append(text, string, strlen(string)); }

static void add_escaped(Text *text, const char *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        char c = data[i], code[8];
        if (c == '"' || c == '\\') { code[0] = '\\'; code[1] = c; append(text, code, 2); }
        else if (c == '\n') append(text, "\\n", 2);
        else if ((unsigned char)c < 32) append(text, code, sprintf(code, "\\u%04x", c));
        else append(text, &c, 1);
    }
}

/* Copy the JSON string that follows `key` into `out`, without its escapes. */
static int string_after(const char *json, const char *key, Text *out) {
    const char *at = strstr(json, key);
    if (!at) return 0;
    for (at += strlen(key); *at && *at != '"'; at++) {
        char c = *at;
        if (c == '\\') { at++; c = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at; }
        append(out, &c, 1);
    }
    return 1;
}

/* --- shell calls ---------------------------------------------------------------------------- */

typedef struct { Text id, name, input; pid_t pid; int output; } Call;

static void start(Call *call) {
    Text command = {0};
    int ends[2];
    posix_spawn_file_actions_t actions;
    string_after(call->input.data, "\"command\": \"", &command);
    if (pipe2(ends, O_CLOEXEC)) exit(1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    char *arguments[] = {"bash", "-c", command.data, NULL};
    if (posix_spawnp(&call->pid, "bash", &actions, NULL, arguments, environ)) exit(1);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    call->output = ends[0];
    free(command.data);
}

static void finish(Call *call, Text *history) {
    char piece[65536];
    ssize_t got;
    add(history, "{\"type\":\"tool_result\",\"tool_use_id\":\"");
    add(history, call->id.data);
    add(history, "\",\"content\":\"");
    while ((got = read(call->output, piece, sizeof piece)) > 0) add_escaped(history, piece, got);
    add(history, "\"}");
    close(call->output);
    waitpid(call->pid, NULL, 0);
}

/* --- one answer ----------------------------------------------------------------------------- */

typedef struct { Call calls[MAX_CALLS]; int count, in_call, ended; } Turn;

static void event(Turn *turn, const char *json) {
    Call *call = &turn->calls[turn->count];
    if (strstr(json, "\"content_block_delta\"")) {
        Text text = {0};
        if (turn->in_call) string_after(json, "\"partial_json\":\"", &call->input);
        else if (string_after(json, "\"text\":\"", &text)) fwrite(text.data, 1, text.size, stdout);
        free(text.data);
    } else if (strstr(json, "\"content_block_start\"")) {
        turn->in_call = strstr(json, "\"tool_use\"") != NULL;
        if (!turn->in_call || turn->count + 1 >= MAX_CALLS) return;
        string_after(json, "\"id\":\"", &call->id);
        string_after(json, "\"name\":\"", &call->name);
    } else if (strstr(json, "\"content_block_stop\"") && turn->in_call) {
        start(call);
        turn->count++;
        turn->in_call = 0;
    }
}

/* Take all complete chunks out of `data`; return the bytes used. */
static size_t chunks(Turn *turn, char *data, size_t size) {
    size_t at = 0;
    for (;;) {
        char *line = memchr(data + at, '\n', size - at);
        if (!line) return at;
        size_t length = strtoul(data + at, NULL, 16);
        if (line + 1 + length + 2 > data + size) return at;
        line[1 + length] = 0;
        char *json = strstr(line + 1, "data: ");
        if (json) event(turn, json + 6);
        at = line + 1 + length + 2 - data;
        if (!length) { turn->ended = 1; return at; }
    }
}

static void answer(int server, Turn *turn) {
    static char buffer[1 << 20];
    size_t filled = 0;
    int in_head = 1;
    while (!turn->ended) {
        ssize_t got = recv(server, buffer + filled, sizeof buffer - 1 - filled, 0);
        if (got <= 0) exit(1);
        filled += got;
        buffer[filled] = 0;
        char *body = buffer;
        if (in_head) {
            if (!(body = strstr(buffer, "\r\n\r\n"))) continue;
            body += 4;
            in_head = 0;
        }
        size_t used = body - buffer + chunks(turn, body, filled - (body - buffer));
        memmove(buffer, buffer + used, filled - used);
        filled -= used;
        fflush(stdout);
    }
}

/* --- conversation --------------------------------------------------------------------------- */

static void send_all(int server, const char *data, size_t size, int flags) {
    while (size) {
        ssize_t sent = send(server, data, size, flags);
        if (sent < 0) exit(1);
        data += sent;
        size -= sent;
    }
}

static void ask(int server, const Text *history) {
    char head[256];
    int size = sprintf(head,
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        "x-api-key: x\r\nanthropic-version: 2023-06-01\r\ncontent-length: %zu\r\n\r\n",
        history->size + 2);
    send_all(server, head, size, MSG_MORE);
    send_all(server, history->data, history->size, MSG_MORE);
    send_all(server, "]}", 2, 0);
}

static void remember(Turn *turn, Text *history) {
    add(history, ",{\"role\":\"assistant\",\"content\":[");
    for (int i = 0; i < turn->count; i++) {
        add(history, i ? ",{\"type\":\"tool_use\",\"id\":\"" : "{\"type\":\"tool_use\",\"id\":\"");
        add(history, turn->calls[i].id.data);
        add(history, "\",\"name\":\"");
        add(history, turn->calls[i].name.data);
        add(history, "\",\"input\":");
        add(history, turn->calls[i].input.data);
        add(history, "}");
    }
    add(history, "]},{\"role\":\"user\",\"content\":[");
    for (int i = 0; i < turn->count; i++) {
        if (i) add(history, ",");
        finish(&turn->calls[i], history);
        free(turn->calls[i].id.data);
        free(turn->calls[i].name.data);
        free(turn->calls[i].input.data);
    }
    add(history, "]}");
}

int main(void) {
    const char *url = getenv("ANTHROPIC_BASE_URL");
    struct sockaddr_in address = {.sin_family = AF_INET};
    int on = 1, server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Text history = {0};
    if (!url) return 1;
    address.sin_port = htons(atoi(strrchr(url, ':') + 1));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(server, (struct sockaddr *)&address, sizeof address)) return 1;
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    add(&history,
        "{\"model\":\"bench\",\"max_tokens\":4096,\"stream\":true,\"tools\":[{\"name\":\"Bash\","
        "\"description\":\"Run a command.\",\"input_schema\":{\"type\":\"object\",\"properties\":"
        "{\"command\":{\"type\":\"string\"}},\"required\":[\"command\"]}}],\"messages\":["
        "{\"role\":\"user\",\"content\":\"go\"}");
    for (;;) {
        Turn turn = {0};
        ask(server, &history);
        answer(server, &turn);
        if (!turn.count) return 0;
        remember(&turn, &history);
    }
}
