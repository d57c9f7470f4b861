/** How a client that resumes a live channel shows its token: where a browser can, and never in an address. */

/**
 * For so long a client may use the last token that it received: until ten minutes after the end of its channel, which
 * may have come two heartbeats after the token.
 */
export const tokenLastsMs = 11 * 60_000;

/** The WebSocket subprotocol that the server selects. */
export const liveProtocol = 'poproom';

/** A further subprotocol that a client offers, and that is never selected, begins with this; the token follows. */
export const resumePrefix = 'resume.';

/** The header for server-sent events. */
export const resumeHeader = 'X-Resume-Token';
