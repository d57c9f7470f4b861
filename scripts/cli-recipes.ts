/** Things to do with the command line, as docs/cli.md shows them; test/docs/cli-guide.test.ts runs them from the page. */
export interface Recipe {
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
    name: 'folder',
    title: 'Move a folder to another machine',
    lines: `
tar cz project | poproom send 7KQ2MX - --name project.tgz

# On the other machine:
poproom fetch 7KQ2MX project.tgz -o - | tar xz
`,
  },
  {
    name: 'wait',
    title: 'Wait until someone writes, and go on with what was written',
    lines: `
answer=$(poproom watch 7KQ2MX --once)
echo "They said: $answer"
`,
  },
  {
    name: 'log',
    title: 'Add lines to a text that others write, too',
    lines: `
{ date; df -h .; } | poproom put 7KQ2MX --append
`,
  },
  {
    name: 'careful',
    title: 'Replace a text only if nobody changed it',
    lines: `
# Ends with 5 if someone else was faster:
version=$(poproom get 7KQ2MX --json | sed -E 's/.*"version":([0-9]+).*/\\1/')
poproom get 7KQ2MX | sort | poproom put 7KQ2MX --base-version "$version"
`,
  },
  {
    name: 'undo',
    title: 'Go back to an earlier text',
    lines: `
poproom history 7KQ2MX

# Look at version 3, and make it the current text again:
poproom history 7KQ2MX 3
poproom restore 7KQ2MX 3
`,
  },
  {
    name: 'gone',
    title: 'Tell one failure from another',
    lines: `
poproom get 7KQ2MX > note.txt || case $? in
  3) echo "The room is gone." ;;
  8) echo "The server is out of reach." ;;
  *) echo "See above." ;;
esac
`,
  },
];
