# Read by a shell before the command (BASH_ENV) where that may change the folder: at its end the
# shell writes where it stood into the file $DETENT_FOLDER_TO. Nothing of this reaches the command.
builtin printf -v DETENT_FOLDER_TO %q "$DETENT_FOLDER_TO"
builtin trap -- "{ builtin pwd -P >|$DETENT_FOLDER_TO; } 2>/dev/null || :" EXIT
builtin unset BASH_ENV DETENT_FOLDER_TO
