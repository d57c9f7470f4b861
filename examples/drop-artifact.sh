#!/usr/bin/env bash
# Drops a file into a room, and prints the link of the room: open it on any device, or put it into a chat.
#
#   examples/drop-artifact.sh app.apk            into a new room, which lives for a day
#   examples/drop-artifact.sh 7KQ2MX app.apk     into the room with this code
#
# Made for CI: it asks nothing, prints nothing but the link, and ends with an exit code that says what went wrong
# (docs/cli.md lists them). Tell it your server by POPROOM_URL and, where needed, POPROOM_API_KEY and POPROOM_PIN.
set -euo pipefail

case $# in
  1)
    file=$1
    # What is on standard input would become the text of the room, and a CI job may have something there.
    room=$(poproom new --expires 1d </dev/null)
    ;;
  2)
    room=$1
    file=$2
    ;;
  *)
    echo "Usage: $0 [CODE] FILE" >&2
    exit 2
    ;;
esac

poproom send "$room" "$file" >/dev/null
poproom info "$room" | awk '$1 == "link" { print $2 }'
