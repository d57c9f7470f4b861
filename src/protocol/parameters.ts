/** The parameters that several endpoints share. */
import { pin } from './fields.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description: string;
  required?: true;
  /** What a value must look like, where anything else is refused. */
  pattern?: string;
  example: string;
}

export const roomId: Parameter = {
  name: 'roomId',
  in: 'path',
  required: true,
  description: 'The room code, in any case, with or without dashes.',
  example: '7KQ2MX',
};
export const fileId: Parameter = {
  name: 'fileId',
  in: 'path',
  required: true,
  description: 'The id of the file.',
  pattern: '^[0-9a-f]{32}$',
  example: '9f86d081884c7d659a2feaa0c55ad015',
};
export const checkpointVersion: Parameter = {
  name: 'version',
  in: 'path',
  required: true,
  description: 'The version, as the history lists it.',
  pattern: '^[0-9]{1,15}$',
  example: '7',
};
const pinHeader: Parameter = {
  name: 'X-Room-Pin',
  in: 'header',
  description: 'The PIN of a protected room. The recommended way: it stays out of logs.',
  pattern: pin.pattern,
  example: '0427',
};
const pinQuery: Parameter = {
  name: 'pin',
  in: 'query',
  description: 'The PIN of a protected room, for clients that cannot set headers.',
  pattern: pin.pattern,
  example: '0427',
};
const device: Parameter = {
  name: 'X-Device-Id',
  in: 'header',
  description:
    'Names the device, in 1 to 64 letters, digits, dashes or underscores; it then counts as attached for 60 seconds.',
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  example: 'my-phone',
};
export const roomAccess = [roomId, pinHeader, pinQuery, device] as const;

/** Those that several endpoints take, by the names that the description gives them. */
export const sharedParameters: Record<string, Parameter> = { roomId, fileId, pinHeader, pinQuery, deviceId: device };
