/** A process that remembers encrypted rooms, for tests with several of them. Arguments: state folder, prefix, number. */

import { readEnvironment } from '../../src/cli/environment.ts';
import { openEncryptedRooms } from '../../src/cli/known-rooms.ts';

const [stateFolder = '', prefix = '', count = '0'] = process.argv.slice(2);
const rooms = openEncryptedRooms({ ...readEnvironment(), stateFolder });
for (let n = 0; n < Number(count); n++) {
  rooms.remember('https://pop.example.org', `E${prefix}${String(n).padStart(4, '0')}`, { key: `key ${prefix} ${n}` });
}
