/** Python with PyNaCl, for a second implementation of the encryption. */
import { spawnSync } from 'node:child_process';

export const pyNaClMissing =
  'Tests of the encryption format need Python with PyNaCl: on Debian, "sudo apt-get install python3-nacl".';

/** The Python of Debian first: another one on the PATH does not see Debian’s packages. */
export function findPython(): string | undefined {
  const hasPyNaCl = (python: string) => spawnSync(python, ['-c', 'import nacl.bindings']).status === 0;
  return ['/usr/bin/python3', 'python3'].find(hasPyNaCl);
}
