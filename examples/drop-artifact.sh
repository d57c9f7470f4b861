#!/usr/bin/env bash
# Uploads a file to a room and prints the link of the room. Open the link on any device, or post it in a chat.
#
#   examples/drop-artifact.sh app.apk            to a new room that expires after a day
#   examples/drop-artifact.sh 7KQ2MX app.apk     to the room with this code
#
# Made for CI: it does not prompt, prints only the link, and exits with a code for the kind of error (see docs/cli.md).
# Set POPROOM_URL to your server and, if needed, POPROOM_API_KEY and POPROOM_PIN.
set -euo pipefail

case $# in
  1)
    file=$1
    # "poproom new" would use standard input as the text of the room, and a CI job may have other data there.
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
