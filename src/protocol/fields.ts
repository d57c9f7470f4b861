/** Fields that bodies and live messages share. */

export const timestamp = (description: string, example = '2026-11-15T09:30:00.000Z') =>
  ({
    type: 'string',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
    description,
    examples: [example],
  }) as const;

export const roomId = {
  type: 'string',
  pattern: '^[0-9A-HJKMNP-TV-Z]{6,12}$',
  description: 'the room code, in its canonical form',
  examples: ['7KQ2MX'],
} as const;

export const pin = {
  type: 'string',
  pattern: '^[0-9]{4}$',
  description: 'a string of exactly four digits, such as "0427"',
  examples: ['0427'],
} as const;

export const expiresAt = timestamp('when the room expires', '2026-11-15T10:30:00.000Z');
export const hasPin = {
  type: 'boolean',
  description: 'whether the room is protected by a PIN',
  examples: [true],
} as const;
export const content = { type: 'string', description: 'a string, the shared text', examples: ['Hello'] } as const;
