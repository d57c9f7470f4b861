/** The WebSocket close codes of the live channel, with their documentation. */
export const closeCodes = {
  1008: 'No valid `join` within 5 seconds, too many invalid messages, or no heartbeat.',
  1009: 'The message is too large.',
  1011: 'An unexpected error on the server.',
  1012: 'The server is restarting or overloaded. Reconnect after the time in `closed`, if you received it.',
  4401: 'The room requires a PIN or a key.',
  4403: 'The PIN or the key is wrong.',
  4404: 'No room has this code, or it was deleted.',
  4410: 'The room has expired, or was deleted while you were connected.',
  4429: 'Too many messages, devices, wrong PINs or wrong keys, or the client reads too slowly.',
} as const;

export type CloseCode = keyof typeof closeCodes;
