/**
 * Seconds after which a connection is closed on which no byte moves either way: no request, no heartbeat, no reader that
 * takes its file. More than the 60 that load balancers keep one for: the one who closes it should be they.
 */
export const silenceSeconds = 65;
