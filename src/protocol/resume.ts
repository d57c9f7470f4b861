/** How a client sends its resume token: in a way that browsers support, and never in a URL. */

/**
 * How long a client may use its last token: until ten minutes after the end of its channel, which may have been two
 * heartbeats after the token.
 */
export const resumeTokenTtlMs = 11 * 60_000;

/** The WebSocket subprotocol that the server selects. */
export const liveProtocol = 'poproom';

/** The prefix of a second subprotocol that contains the token. The server never selects it. */
export const resumePrefix = 'resume.';

/** The header for server-sent events. */
export const resumeHeader = 'X-Resume-Token';
