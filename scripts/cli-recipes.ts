/** The recipes in docs/cli.md. test/docs/cli-guide.test.ts runs them. */
interface Recipe {
  name: string;
  title: string;
  lines: string;
}

export const recipes: readonly Recipe[] = [
  {
    name: 'share',
    title: 'Share a text',
    lines: `
code=$(poproom new)
date | poproom put "$code"
poproom get "$code"
`,
  },
  {
    name: 'quick',
    title: 'Send a file without creating a room first',
    lines: `
poproom send photo.jpg

# In a script, the first line is the code of the new room:
code=$(poproom send photo.jpg | head -n 1)
`,
  },
  {
    name: 'folder',
    title: 'Move a folder to another machine',
    lines: `
poproom send -r 7KQ2MX project

# On the other machine:
poproom fetch 7KQ2MX
`,
  },
  {
    name: 'zip',
    title: 'Download all files as one archive',
    lines: `
poproom fetch 7KQ2MX --zip -o files.zip
unzip files.zip
`,
  },
  {
    name: 'once',
    title: 'Hand over a secret that only one person can receive',
    lines: `
poproom send --once 7KQ2MX key.pem

# On the other machine; the file is then erased from the room:
poproom fetch 7KQ2MX key.pem
`,
  },
  {
    name: 'collect',
    title: 'Collect files from others, who see nothing of the room',
    lines: `
link=$(poproom link 7KQ2MX --drop --name "Party photos" --expires 3d)

# Others, with this link:
poproom send "$link" photo.jpg --note "From Ada"

# When all files are there:
poproom fetch 7KQ2MX -o party/
poproom unlink 7KQ2MX "$link"
`,
  },
  {
    name: 'wait',
    title: 'Wait for the next change and use the text',
    lines: `
answer=$(poproom watch 7KQ2MX --once)
echo "They said: $answer"
`,
  },
  {
    name: 'log',
    title: 'Append lines while others write',
    lines: `
{ date; df -h .; } | poproom put 7KQ2MX --append
`,
  },
  {
    name: 'careful',
    title: 'Replace a text only if nobody else has changed it',
    lines: `
# The exit code is 5 if someone else was faster:
version=$(poproom get 7KQ2MX --json | sed -E 's/.*"version":([0-9]+).*/\\1/')
poproom get 7KQ2MX | sort | poproom put 7KQ2MX --base-version "$version"
`,
  },
  {
    name: 'undo',
    title: 'Restore an earlier text',
    lines: `
poproom history 7KQ2MX

# Print version 3, then make it the current text again:
poproom history 7KQ2MX 3
poproom restore 7KQ2MX 3
`,
  },
  {
    name: 'gone',
    title: 'Handle errors by exit code',
    lines: `
poproom get 7KQ2MX > note.txt || case $? in
  3) echo "The room does not exist any more." ;;
  8) echo "The server is unreachable." ;;
  *) echo "Something else failed." ;;
esac
`,
  },
];
