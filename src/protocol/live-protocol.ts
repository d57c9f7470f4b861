/** How a live channel is opened and closed: subprotocols, resume tokens and close codes. */

/**
 * How long a client may use its last token: until ten minutes after the end of its channel, which may have been two
 * heartbeats after the token.
 */
export const resumeTokenTtlMs = 11 * 60_000;

/** The WebSocket subprotocol that the server selects. */
export const liveProtocol = 'poproom';

/** The prefix of a second subprotocol that contains the resume token, which is never in a URL. The server never selects it. */
export const resumePrefix = 'resume.';

/** The prefix of a subprotocol that contains an API key, for browsers, whose WebSockets cannot send headers. */
export const keyPrefix = 'key.';

/** The header for server-sent events. */
export const resumeHeader = 'X-Resume-Token';

/** The WebSocket close codes of the live channel, with their documentation. */
export const closeCodes = {
  1008: 'No valid `join` within 5 seconds, too many invalid messages, or no heartbeat.',
  1009: 'The message is too large.',
  1011: 'An unexpected error on the server.',
  1012: 'The server is restarting or overloaded. Reconnect after the time in `closed`, if you received it.',
  4401: 'The room requires a PIN or a key.',
  4403: 'The PIN or the key is wrong, or the link may not follow the room.',
  4404: 'No room has this code, or it was deleted; or there is no such link.',
  4410: 'The room or the link has expired, or was deleted or revoked while you were connected.',
  4429: 'Too many messages, devices, wrong PINs or wrong keys, or the client reads too slowly.',
} as const;

export type CloseCode = keyof typeof closeCodes;
