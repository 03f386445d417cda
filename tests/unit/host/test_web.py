"""The web under its policy: whom it reaches, whom never, and that no page can hurt."""

from __future__ import annotations

import asyncio
import gzip
import socket
import zlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from detent.host.page_cache import LASTS, MOST_BYTES, MOST_PAGES
from detent.host.web import MOST_REDIRECTS, OpenWeb
from detent.ports import Page
from loopback import AUTHORITY, Handler, Peer, Server, run, sends, server_side

PUBLIC = "93.184.216.34"


def answer(body: bytes = b"ok", status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def moved(location: str, status: str = "302 Found") -> bytes:
    return answer(b"", status, location=location)


class Names:
    """A resolver that says one thing after the other, and then the last again."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Net:
    """All connections are noted, and lead to one server on loopback."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.dialled: list[tuple[str, int]] = []
        self.port = 0
        self.dead: set[str] = set()
        dial = asyncio.BaseEventLoop.create_connection

        async def create(loop: Any, protocol: Any, host: str, port: int, **more: Any) -> Any:
            self.dialled.append((host, port))
            if host in self.dead:
                raise OSError(f"nobody at {host}")
            return await dial(loop, protocol, "127.0.0.1", self.port, **more)

        monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", create)


@pytest.fixture
def net(monkeypatch: pytest.MonkeyPatch) -> Net:
    return Net(monkeypatch)


def never(host: str, port: int) -> Awaitable[Sequence[str]]:
    raise AssertionError(f"{host} was looked up")


def web_of(server: Server | None = None, **more: Any) -> OpenWeb:
    """One that may reach the server."""
    may_reach = more.pop("may_reach", [f"127.0.0.1:{server.port}"] if server else [])
    return OpenWeb(
        more.pop("environ", {}), more.pop("now", lambda: 0.0), may_reach=may_reach, **more
    )


async def got(web: OpenWeb, url: str, most: int = 1000, seconds: float = 20.0, **more: Any) -> Page:
    try:
        return await web.get(url, most=most, seconds=seconds, **more)
    finally:
        await web.aclose()


def fetched(*parts: bytes, path: str = "/", **more: Any) -> Page:
    """What a server that sends these bytes is made into."""
    pages: list[Page] = []

    async def main() -> None:
        async with Server(*(sends(part) for part in parts)) as server:
            pages.append(await got(web_of(server), f"http://127.0.0.1:{server.port}{path}", **more))

    run(main)
    return pages[0]


def failure(url: str, kind: type[OSError] = OSError, **more: Any) -> str:
    said: list[str] = []

    async def main() -> None:
        with pytest.raises(kind) as caught:
            await got(web_of(**more), url)
        said.append(str(caught.value))

    run(main)
    return said[0]


# --- a page ------------------------------------------------------------------------------


def test_a_page() -> None:
    page = fetched(
        answer(b"<p>hi", content_type='Text/HTML; a=b; Charset="ISO-8859-1"'), path="/a?b"
    )
    assert page.url.endswith("/a?b")
    assert (page.status, page.body, page.is_cut, page.moved_to) == (200, b"<p>hi", False, "")
    assert (page.media_type, page.charset) == ("text/html", "iso-8859-1")


def test_what_the_server_is_told() -> None:
    seen: list[Any] = []

    async def handler(peer: Peer) -> None:
        seen.append(await peer.request())
        await peer.send(answer())

    async def main() -> None:
        async with Server(handler) as server:
            await got(web_of(server), f"http://127.0.0.1:{server.port}/x", headers={"x-a": "b"})
            assert seen[0][1]["host"] == f"127.0.0.1:{server.port}"

    run(main)
    first, headers, _ = seen[0]
    assert first == "GET /x HTTP/1.1"
    assert headers["user-agent"].startswith("detent/")
    assert headers["accept"].startswith("text/markdown, text/html")
    assert headers["x-a"] == "b"


def test_a_post() -> None:
    seen: list[Any] = []

    async def handler(peer: Peer) -> None:
        seen.append(await peer.request())
        await peer.send(answer(b"{}"))

    async def main() -> None:
        async with Server(handler) as server:
            web = web_of(server)
            url = f"http://127.0.0.1:{server.port}/x"
            page = await web.post(url, b"body", most=10, seconds=20, headers={"authorization": "k"})
            assert page.body == b"{}"
            await web.aclose()

    run(main)
    assert seen[0][0] == "POST /x HTTP/1.1" and seen[0][2] == b"body"
    assert seen[0][1]["authorization"] == "k"


@pytest.mark.parametrize(("size", "is_cut"), [(999, False), (1000, False), (1001, True)])
def test_a_long_page_is_cut_and_that_is_told(size: int, is_cut: bool) -> None:
    page = fetched(answer(b"x" * size))
    assert (len(page.body), page.is_cut) == (min(size, 1000), is_cut)


def test_a_bomb_costs_no_more_than_its_bound() -> None:
    bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(bomb.compress(bytes(1024 * 1024)) for _ in range(64)) + bomb.flush()
    page = fetched(answer(packed, content_encoding="gzip"), most=100_000)
    assert (len(page.body), page.is_cut) == (100_000, True)


def test_a_packed_page_is_unpacked() -> None:
    assert fetched(answer(gzip.compress(b"hello"), content_encoding="gzip")).body == b"hello"


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (answer(b"x", content_encoding="br"), "packs its answers as 'br'"),
        (answer(b"not packed", content_encoding="gzip"), "damaged"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort", "in the middle of its answer"),
        (b"what?\r\n\r\n", "does not speak HTTP"),
        (b"", "without an answer"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000 + b"\r\n", "endless head"),
        (moved("https://u:p@elsewhere.test/"), "redirects to where nobody can follow"),
        (moved("ftp://elsewhere.test/"), "redirects to where nobody can follow"),
        (moved("http://[::1/"), "redirects to where nobody can follow"),
    ],
)
def test_every_failure_has_words(sent: bytes, words: str) -> None:
    with pytest.raises(OSError, match=words):
        fetched(sent)


def test_a_server_that_is_silent_is_left_in_time() -> None:
    async def silent(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx")
        await peer.reader.read()

    async def main() -> None:
        async with Server(silent) as server:
            with pytest.raises(TimeoutError, match=r"127\.0\.0\.1 did not answer in time"):
                await got(web_of(server), f"http://127.0.0.1:{server.port}/", seconds=0.05)

    run(main)


def test_a_host_that_is_not_there() -> None:
    async def nobody(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    words = failure("https://nowhere.test/", resolve=nobody)
    assert words == "the host nowhere.test was not found: Name or service not known"


def test_nobody_listens_there(net: Net) -> None:
    net.dead = {PUBLIC}
    assert failure("http://a.test/", resolve=Names([PUBLIC])) == f"a.test: nobody at {PUBLIC}"


# --- whom it does not reach --------------------------------------------------------------

SPELLINGS = """
http://127.0.0.1/ http://127.0.0.1:8080/ http://127.1/ http://127.0.1/ http://2130706433/
http://0x7f000001/ http://0x7f.0.0.1/ http://0x7f.1/ http://0177.0.0.1/ http://017700000001/
http://0177.0.0.0x1/ http://00000177.1/ http://0/ http://0.0.0.0/ http://0x0/ http://127.0.0.1./
http://127.127.127.127/ http://１２７.０.０.１/ http://①②⑦.⓪.⓪.①/ http://127。0。0。1/
http://[::]/ http://[::1]/ http://[0:0:0:0:0:0:0:1]/ http://[0000::0001]/ http://[::ffff:127.0.0.1]/
http://[::ffff:7f00:1]/ http://[::127.0.0.1]/ http://[64:ff9b::127.0.0.1]/ http://[2002:7f00:1::]/
http://[fe80::1]/ http://[fd00:ec2::254]/ http://[ff02::1]/
http://localhost/ http://LOCALHOST/ http://localhost./ http://localhost:8000/ http://a.localhost/
http://ｌocalhost/ http://ip6-localhost/ http://printer.local/ http://metadata.google.internal/
http://metadata/ http://169.254.169.254/latest/meta-data/ http://2852039166/ http://0xa9fea9fe/
http://0251.0376.0251.0376/ http://[::ffff:169.254.169.254]/ http://100.100.100.200/
http://168.63.129.16/ http://10.0.0.1/ http://10.1/ http://172.16.0.1/ http://192.168.1.1/
http://192.168.257/ http://224.0.0.1/ http://255.255.255.255/ http://198.18.0.1/
""".split()  # noqa: SIM905


@pytest.mark.parametrize("url", SPELLINGS)
def test_an_inside_is_not_reached_however_it_is_spelled(url: str, net: Net) -> None:
    for scheme in ("http", "https"):
        words = failure(url.replace("http", scheme, 1), PermissionError, resolve=never)
        assert "only public hosts may be reached" in words and "webFetch.mayReach" in words
    assert net.dialled == []


def test_there_are_enough_spellings() -> None:
    assert len(SPELLINGS) >= 40


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1@a.test/",
        "http://a.test\\@127.0.0.1/",
        "http://a\t.test/",
        "file:///etc/passwd",
    ],
)
def test_what_can_be_read_in_two_ways_is_not_tried(url: str, net: Net) -> None:
    failure(url, resolve=never)
    assert net.dialled == []


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
        "::1",
        "fe80::1%eth0",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_name_that_means_an_inside_is_not_reached(scheme: str, address: str, net: Net) -> None:
    words = failure(f"{scheme}://rebind.test/", PermissionError, resolve=Names([address]))
    assert words.startswith(f"rebind.test ({address}) is ")
    assert net.dialled == []


def test_one_inside_address_among_others_is_enough(net: Net) -> None:
    failure("http://rebind.test/", PermissionError, resolve=Names([PUBLIC, "10.0.0.1"]))
    assert net.dialled == []


def test_a_name_is_looked_up_once_and_what_was_checked_is_dialled(net: Net) -> None:
    """Rebinding: a second lookup would give an address of this machine."""
    names = Names([PUBLIC], ["127.0.0.1"])

    async def main() -> None:
        async with Server(sends(answer())) as server:
            net.port = server.port
            page = await got(web_of(resolve=names), "http://rebind.test/")
            assert page.body == b"ok"

    run(main)
    assert names.asked == ["rebind.test"]
    assert net.dialled == [(PUBLIC, 80)]


def test_tls_verifies_the_name_though_an_address_is_dialled(net: Net) -> None:
    names, environ = Names([PUBLIC]), {"DETENT_CA_BUNDLE": AUTHORITY}

    async def main() -> None:
        async with Server(sends(answer()), tls=server_side()) as server:
            net.port = server.port
            page = await got(web_of(resolve=names, environ=environ), "https://api.model.test/")
            assert page.body == b"ok"
            for url in ("https://other.test/", f"https://{PUBLIC}/"):
                with pytest.raises(OSError, match=r"certificate of .* is not valid"):
                    await got(web_of(resolve=names, environ=environ), url)

    asyncio.run(main())
    assert net.dialled == [(PUBLIC, 443)] * 3


def test_no_server_sees_the_users_certificate(net: Net) -> None:
    """It is for the model's endpoint; whoever asks for it here is not shown it."""
    folder = AUTHORITY.rpartition("/")[0]
    environ = {
        "DETENT_CA_BUNDLE": AUTHORITY,
        "DETENT_CLIENT_CERT": f"{folder}/client.pem",
        "DETENT_CLIENT_KEY": f"{folder}/client.key",
    }

    async def main() -> None:
        async with Server(sends(answer()), tls=server_side(wants_client=True)) as server:
            net.port = server.port
            with pytest.raises(OSError, match=r"client certificate|without an answer"):
                await got(
                    web_of(resolve=Names([PUBLIC]), environ=environ), "https://api.model.test/"
                )

    asyncio.run(main())


def test_the_next_address_is_tried_when_one_is_dead(net: Net) -> None:
    net.dead = {"2606:4700::1"}

    async def main() -> None:
        async with Server(sends(answer())) as server:
            net.port = server.port
            web = web_of(resolve=Names(["2606:4700::1", PUBLIC]))
            assert (await got(web, "http://a.test/")).body == b"ok"

    run(main)
    assert [host for host, _ in net.dialled] == ["2606:4700::1", PUBLIC]


@pytest.mark.parametrize("port", [1, 22, 25, 110, 143, 444, 1023])
def test_ports_of_other_protocols_are_not_reached(port: int, net: Net) -> None:
    assert "port" in failure(f"http://a.test:{port}/", PermissionError, resolve=never)
    assert net.dialled == []


@pytest.mark.parametrize(
    ("may_reach", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:{port}/"),
        ("127.0.0.1:{port}", "http://127.0.0.1:{port}/"),
        ("127.1:{port}", "http://2130706433:{port}/"),
        ("Wiki.Corp.", "http://wiki.corp:{port}/"),
        ("[::1]:{port}", "http://[::1]:{port}/"),
        ("[::1]", "http://[0::1]:{port}/"),
        ("localhost:{port}", "http://LOCALHOST:{port}/"),
    ],
)
def test_what_the_user_named_is_reached(may_reach: str, url: str, net: Net) -> None:
    async def main() -> None:
        async with Server(sends(answer())) as server:
            net.port = server.port
            named = may_reach.format(port=server.port)
            web = web_of(may_reach=[named], resolve=Names(["127.0.0.1"]))
            assert (await got(web, url.format(port=server.port))).body == b"ok"

    run(main)


@pytest.mark.parametrize(
    "may_reach", ["127.0.0.1:1234", "127.0.0.2", "localhost", "27.0.0.1", "[::1]"]
)
def test_what_the_user_named_is_nothing_else(may_reach: str) -> None:
    failure("http://127.0.0.1:4321/", PermissionError, may_reach=[may_reach], resolve=never)


# --- proxies -----------------------------------------------------------------------------


def test_a_proxy_looks_names_up() -> None:
    seen: list[str] = []

    async def proxy(peer: Peer) -> None:
        seen.append((await peer.request())[0])
        await peer.send(answer(b"by proxy"))

    async def main() -> None:
        async with Server(proxy) as server:
            web = web_of(environ={"http_proxy": f"http://127.0.0.1:{server.port}"}, resolve=never)
            assert (await got(web, "http://a.test/x")).body == b"by proxy"

    run(main)
    assert seen == ["GET http://a.test/x HTTP/1.1"]


@pytest.mark.parametrize(
    "host",
    [
        "10.0.0.1",
        "169.254.169.254",
        "localhost",
        "a.internal",
        "nas.local",
        "0x7f.1",
        "[fd00::1]",
        "intranet",
    ],
)
def test_a_proxy_is_not_asked_for_an_inside(host: str, net: Net) -> None:
    environ = {"http_proxy": "http://proxy.test:1", "https_proxy": "http://proxy.test:1"}
    failure(f"https://{host}/", PermissionError, environ=environ)
    assert net.dialled == []


def test_a_host_without_the_proxy_is_checked_as_ever(net: Net) -> None:
    environ = {"http_proxy": "http://proxy.test:1", "no_proxy": "a.test"}
    failure("http://a.test/", PermissionError, environ=environ, resolve=Names(["10.0.0.1"]))
    assert net.dialled == []


# --- redirects ---------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P"])
def test_a_redirect_on_the_site_is_followed(status: str) -> None:
    page = fetched(moved("/b?c=ü", status), answer(b"there"), path="/a")
    assert page.url.endswith("/b?c=%C3%BC") and page.body == b"there"


def test_a_redirect_that_does_not_say_where_is_an_answer() -> None:
    assert fetched(answer(b"hm", "302 Found")).status == 302


def test_circles_end() -> None:
    with pytest.raises(OSError, match=f"more than {MOST_REDIRECTS} times"):
        fetched(moved("/again"))


def elsewhere(asked: str, location: str, net: Net, **more: Any) -> tuple[Page, Names]:
    names = more.pop("resolve", None) or Names([PUBLIC])
    pages: list[Page] = []

    async def main() -> None:
        async with Server(sends(moved(location)), sends(answer(b"followed"))) as server:
            net.port = server.port
            pages.append(await got(web_of(resolve=names, **more), asked))

    run(main)
    return pages[0], names


@pytest.mark.parametrize(
    ("asked", "location"),
    [
        ("http://a.test/", "/x"),
        ("http://a.test:8080/", "//a.test:8080/x"),
        ("http://a.test/", "http://A.TEST.:80/"),
    ],
)
def test_the_same_host_in_another_spelling(asked: str, location: str, net: Net) -> None:
    page, names = elsewhere(asked, location, net)
    assert page.body == b"followed" and page.moved_to == ""
    assert len(names.asked) == 2, "every hop is checked"


def test_from_http_to_https_of_the_same_host(net: Net) -> None:
    """The second connection is not answered by TLS: that it was tried is what counts."""

    async def rude(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 400 Bad\r\n\r\n")

    async def main() -> None:
        async with Server(sends(moved("https://a.test/")), rude) as server:
            net.port = server.port
            with pytest.raises(OSError, match="does not speak TLS"):
                await got(web_of(resolve=Names([PUBLIC])), "http://a.test/")

    run(main)
    assert net.dialled == [(PUBLIC, 80), (PUBLIC, 443)]


@pytest.mark.parametrize(
    ("asked", "location", "moved_to"),
    [
        ("http://a.test/", "https://b.test/x", "https://b.test/x"),
        ("http://a.test/", "//b.test", "http://b.test/"),
        ("http://a.test/", "http://sub.a.test/", "http://sub.a.test/"),
        ("http://a.test/", "http://www.a.test/x", "http://www.a.test/x"),
        ("http://www.a.test/", "//a.test/x", "http://a.test/x"),
        ("http://a.test/", "http://a.test.evil.test/", "http://a.test.evil.test/"),
        ("http://a.test/", "http://a.test:8080/", "http://a.test:8080/"),
        ("http://a.test:8080/", "https://a.test/", "https://a.test/"),
        ("http://a.test/", "http://169.254.169.254/x", "http://169.254.169.254/x"),
        ("http://a.test/", "http://localhost:6379/", "http://localhost:6379/"),
    ],
)
def test_another_host_is_told_and_not_followed(
    asked: str, location: str, moved_to: str, net: Net
) -> None:
    page, names = elsewhere(asked, location, net)
    assert (page.status, page.body, page.moved_to) == (302, b"", moved_to)
    assert len(net.dialled) == len(names.asked) == 1


def test_a_site_that_turns_inward_on_its_second_hop_is_refused(net: Net) -> None:
    with pytest.raises(PermissionError, match=r"a\.test \(10\.0\.0\.1\)"):
        elsewhere("http://a.test/", "/x", net, resolve=Names([PUBLIC], ["10.0.0.1"]))
    assert net.dialled == [(PUBLIC, 80)]


def test_what_says_who_asks_goes_to_its_own_origin_only(net: Net) -> None:
    async def main() -> None:
        async with Server(sends(moved("https://a.test/")), sends(answer())) as server:
            net.port = server.port
            web = web_of(resolve=Names([PUBLIC]))
            page = await got(web, "http://a.test/", headers={"authorization": "secret"})
            assert page.moved_to == "https://a.test/"

    run(main)
    assert len(net.dialled) == 1


def test_a_post_is_never_sent_on() -> None:
    async def main() -> None:
        async with Server(sends(moved("/again")), sends(answer())) as server:
            web = web_of(server)
            url = f"http://127.0.0.1:{server.port}/"
            page = await web.post(url, b"x", most=10, seconds=20, headers={})
            assert page.moved_to == f"{url}again" and server.connections == 1
            await web.aclose()

    run(main)


# --- what is kept ------------------------------------------------------------------------


class Counting:
    """Each answer is another one."""

    def __init__(self, size: int = 0, status: str = "200 OK") -> None:
        self.count, self.size, self.status = 0, size, status

    async def __call__(self, peer: Peer) -> None:
        await peer.request()
        self.count += 1
        await peer.send(answer(str(self.count).encode().ljust(self.size, b"."), self.status))


def cached(handler: Handler, use: Callable[[OpenWeb, str, list[float]], Awaitable[None]]) -> None:
    async def main() -> None:
        async with Server(handler) as server:
            now = [100.0]
            web = web_of(server, now=lambda: now[0])
            await use(web, f"http://127.0.0.1:{server.port}", now)
            await web.aclose()

    run(main)


async def body(web: OpenWeb, url: str, most: int = 10 * MOST_BYTES, **more: Any) -> bytes:
    return (await web.get(url, most=most, seconds=20, **more)).body


def test_a_page_is_kept_for_a_while() -> None:
    async def use(web: OpenWeb, url: str, now: list[float]) -> None:
        assert await body(web, f"{url}/a") == b"1"
        assert await body(web, f"{url}/a#part") == b"1"
        assert await body(web, f"{url}/b") == b"2"
        assert await body(web, f"{url}/a", most=1000) == b"3", "another bound, another page"
        now[0] += LASTS - 1
        assert await body(web, f"{url}/a") == b"1"
        now[0] += 1
        assert await body(web, f"{url}/a") == b"4"
        assert await body(web, f"{url}/a", headers={"x": "y"}) == b"5"
        assert await body(web, f"{url}/a") == b"4"

    cached(Counting(), use)


def test_a_failure_is_not_kept() -> None:
    async def use(web: OpenWeb, url: str, now: list[float]) -> None:
        assert await body(web, url) == b"1"
        assert await body(web, url) == b"2"

    cached(Counting(status="503 Busy"), use)


def test_only_so_many_are_kept() -> None:
    async def use(web: OpenWeb, url: str, now: list[float]) -> None:
        for number in range(MOST_PAGES + 1):
            await body(web, f"{url}/{number}")
        assert await body(web, f"{url}/{MOST_PAGES}") == b"%d" % (MOST_PAGES + 1)
        assert await body(web, f"{url}/1") == b"2"
        assert await body(web, f"{url}/0") == b"%d" % (MOST_PAGES + 2)

    cached(Counting(), use)


def test_only_so_much_is_kept() -> None:
    async def use(web: OpenWeb, url: str, now: list[float]) -> None:
        for path in ("/0", "/1", "/2"):
            await body(web, url + path)
        assert (await body(web, f"{url}/2"))[:1] == b"3"
        assert (await body(web, f"{url}/1"))[:1] == b"2"
        assert (await body(web, f"{url}/0"))[:1] == b"4"

    cached(Counting(size=MOST_BYTES * 2 // 5), use)
