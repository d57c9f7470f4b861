/** `poproom set`: changes when a room expires, its PIN and its name. */
import type { RoomInfo, UpdateRoomRequest } from '../../client/index.ts';
import { assertOnlyCode, type Input } from '../command.ts';
import { formatExpiry, readDuration, withLifetimeErrors } from '../duration.ts';
import { readEnvironment } from '../environment.ts';
import { UsageError } from '../errors.ts';
import { print, printable } from '../output.ts';
import { choosePin, newPinFromEnvironment } from '../prompt.ts';
import { withRoom } from '../server-context.ts';

export async function set(input: Input): Promise<void> {
  assertOnlyCode('set', input);
  const changes = readChanges(input);
  let newPin = input.isSet('new-pin') ? newPinFromEnvironment(readEnvironment()) : undefined;
  await withRoom(input, async (room, memory) => {
    if (input.isSet('new-pin') && newPin === undefined) {
      // Prompts for the current PIN first if it is needed, so that nobody chooses a new one in vain.
      await room.info();
      newPin = await chooseNewPin();
    }
    const update = { ...changes, ...(newPin !== undefined && { pin: newPin }) };
    const details = await withLifetimeErrors(() => room.update(update));
    memory.learn({ expiresAt: details.expiresAt, name: details.name });
    print(input, { ...details, link: room.link }, summarize(details));
  });
}

const chooseNewPin = () =>
  choosePin('New PIN (four digits): ', 'The two PINs differ; the room was not changed.', 'POPROOM_NEW_PIN');

function readChanges(input: Input): UpdateRoomRequest {
  const [expires, name] = [input.value('expires'), input.value('name')];
  const isSet = (option: string) => input.isSet(option);
  if (isSet('new-pin') && isSet('no-pin')) throw new UsageError('Use either --new-pin or --no-pin.');
  if (isSet('extend') && isSet('no-extend')) throw new UsageError('Use either --extend or --no-extend.');
  const flags = ['new-pin', 'no-pin', 'extend', 'no-extend'];
  if (expires === undefined && name === undefined && !flags.some(isSet)) {
    throw new UsageError('What should change? Use --expires, --extend, --no-extend, --name, --new-pin or --no-pin.');
  }
  return {
    ...(expires !== undefined && { expiresIn: readDuration(expires) }),
    ...(isSet('extend') && { extend: true }),
    ...(isSet('no-extend') && { extend: false }),
    ...(name !== undefined && { name }),
    ...(isSet('no-pin') && { pin: null }),
  };
}

function summarize({ roomId, name, expiresAt, hasPin }: RoomInfo): string {
  const title = name === undefined ? printable(roomId) : `${printable(roomId)} (${printable(name)})`;
  return `${title} ${formatExpiry(expiresAt)}${hasPin ? ', protected by a PIN' : ''}`;
}
