/** Creates a room with the options that `new` and `send` share. */
import type { Client, CreatedRoom, CreateRoomRequest } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { readDuration, withLifetimeErrors } from '../duration.ts';
import type { Environment } from '../environment.ts';
import { choosePin, pinFromEnvironment } from '../pin.ts';
import { confirmByDefault } from '../question.ts';
import { rememberRoom } from '../recent-rooms.ts';
import { UsageError } from '../usage-error.ts';

/** Reads `--expires` before anything else happens. */
export function readLifetime(input: Input): Pick<CreateRoomRequest, 'expiresIn'> {
  const expires = input.value('expires');
  if (input.isSet('pin') && input.isSet('no-pin')) throw new UsageError('Use either --pin or --no-pin.');
  return expires === undefined ? {} : { expiresIn: readDuration(expires) };
}

/** Sends the request with the PIN that the user chooses. */
export async function createWithPin(
  input: Input,
  client: Client,
  environment: Environment,
  request: CreateRoomRequest,
): Promise<CreatedRoom> {
  const pin = await newRoomPin(input, environment);
  return withLifetimeErrors(() => client.createRoom({ ...request, ...(pin !== undefined && { pin }) }));
}

export function rememberCreated(environment: Environment, { url }: Client, room: CreatedRoom): void {
  const { code, name, expiresAt } = room;
  rememberRoom(environment, { url, code }, { expiresAt, ...(name !== undefined && { name }) });
}

/** `POPROOM_PIN` alone may be meant for another room, so it does not protect a new one unasked. */
async function newRoomPin(input: Input, environment: Environment): Promise<string | undefined> {
  if (input.isSet('no-pin')) return undefined;
  const fromEnvironment = pinFromEnvironment(environment);
  if (input.isSet('pin')) return fromEnvironment ?? (await chooseNewPin());
  if (fromEnvironment === undefined) return undefined;
  const isTerminal = process.stdout.isTTY && process.stderr.isTTY;
  const isWanted = isTerminal ? await confirmByDefault('POPROOM_PIN is set. Protect the new room with it?') : undefined;
  if (isWanted === undefined) console.error(pinNotUsed);
  return isWanted ? fromEnvironment : undefined;
}

const pinNotUsed =
  'POPROOM_PIN is set, but the new room has no PIN: add --pin to protect it, or --no-pin to hide this message.';

const chooseNewPin = () =>
  choosePin('PIN for the new room (four digits): ', 'The two PINs differ; no room was created.');
