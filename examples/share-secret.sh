#!/usr/bin/env bash
# Shares a secret that only one person can fetch, once. The server cannot read it.
#
#   examples/share-secret.sh id_ed25519       a file
#   pass show bank | examples/share-secret.sh standard input
#
# Prints the code and the key of a new encrypted room that expires after an hour. Send them over different ways, for
# example the code in a chat and the key by phone. The other person runs "poproom fetch CODE --once" and enters the key.
set -euo pipefail

file=${1:--}
name=$([ "$file" = - ] && echo secret.txt || basename "$file")

# The key stays on this computer, so the code alone is enough for the next command. Nothing secret is an argument.
room=$(poproom new --encrypted --expires 1h --no-history --json </dev/null)
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" <<<"$room"; }

poproom send "$(field roomId)" "$file" --name "$name" --once >/dev/null
echo "code $(field roomId)"
echo "key  $(field key)"
