/** Endpoints of the server itself, and the URLs of the page. */
import * as schemas from '../schemas.ts';
import { anyRequest, endpointsWith, inPath, pageFile, pages, responds, roomId } from './endpoint.ts';

const service = endpointsWith({ tag: 'Service', counted: false });
const information = endpointsWith({ tag: 'Service', errors: anyRequest });

export const serviceEndpoints = {
  health: service('GET', '/api/health', 'Check service health', {
    description:
      'Reports whether the server and its stores respond. Counts as a request, like everything under `/api`. For probes, use `/readyz`.',
    successes: [
      responds('All stores respond.', schemas.healthReport),
      responds('A store does not respond: `status` is `degraded`.', schemas.healthReport, {
        status: 503,
        example: { status: 'degraded', timestamp: '2026-11-15T09:30:00.000Z', uptime: 86_400.123 },
      }),
    ],
    errors: ['INVALID_API_KEY', 'ADDRESS_BLOCKED', 'RATE_LIMITED'],
    counted: true,
    alwaysOpen: true,
  }),
  getLimits: information('GET', '/api/limits', 'Get the limits of the server', {
    description: 'Returns the limits of this server, and how much you have stored.',
    successes: [responds('The limits.', schemas.serverLimits)],
  }),
  openapi: information('GET', '/api/openapi.json', 'Get the OpenAPI document', {
    description: 'The API in machine-readable form.',
    successes: [responds('The document.', schemas.apiDescription)],
  }),
  asyncapi: information('GET', '/api/asyncapi.json', 'Get the AsyncAPI document', {
    description: 'The live channel in machine-readable form.',
    successes: [responds('The document.', schemas.liveDescription)],
  }),
  docs: pages('GET', '/docs', 'Read the documentation', {
    tag: 'Service',
    description: 'The API documentation as a page, with the URL and the limits of this server.',
  }),
  live: service('GET', '/livez', 'Liveness probe', {
    description: 'For a supervisor: restart the server if this does not respond.',
    successes: [responds('The process runs.', schemas.probe)],
  }),
  ready: service('GET', '/readyz', 'Readiness probe', {
    description:
      'For a load balancer: checks that the stores respond and evict nothing, that the disk has space for texts, and that expired rooms are removed in time. ' +
      'If there is no space for files, `uploads` is `full`, but the server is still ready, because texts work.',
    successes: [
      responds('The server is ready.', schemas.readiness),
      responds('The server is not ready. See `checks` for the reason.', schemas.readiness, {
        status: 503,
        example: {
          status: 'not ready',
          checks: { store: 'ok', files: 'ok', disk: 'failing', uploads: 'full', sweep: 'ok', server: 'ok' },
        },
      }),
    ],
  }),
  robots: service('GET', '/robots.txt', 'Rules for search engines', {
    description: 'Keeps robots away from the API, and from everything on a public demonstration (`POPROOM_DEMO=true`).',
    successes: [
      { status: 200, description: 'The rules.', mediaType: 'text/plain', example: 'User-agent: *\nDisallow: /api/\n' },
    ],
    errors: ['ADDRESS_BLOCKED'],
    sameOriginOnly: true,
  }),
  metrics: service('GET', '/metrics', 'Metrics for Prometheus', {
    description:
      'Available only with `POPROOM_METRICS=true`. If the operator has set `POPROOM_METRICS_TOKEN`, send it as `Authorization: Bearer TOKEN`.',
    successes: [
      {
        status: 200,
        description: 'The metrics.',
        mediaType: 'text/plain',
        example: '# HELP poproom_rooms Rooms that have not expired.\n# TYPE poproom_rooms gauge\npoproom_rooms 42\n',
      },
    ],
    errors: ['API_KEY_REQUIRED', 'INVALID_API_KEY', 'NOT_FOUND'],
    sameOriginOnly: true,
  }),
};

export const pageEndpoints = {
  home: pages('GET', '/', 'Open the page', { description: 'The start page, where people create or join a room.' }),
  roomPage: pages('GET', '/r/:roomId', 'Open the page in a room', {
    description: 'The same page, whether or not the room exists. The page checks this itself.',
    parameters: [roomId],
  }),
  sharePage: pages('GET', '/share', 'Share to the page', {
    description: 'The same page, as the share target of a device.',
  }),
  invitePage: pages('GET', '/invite', 'Invite a screen', {
    description:
      'The same page, with a QR code. A device that scans it invites this one into a room. The invitation is in the fragment of the link.',
  }),
  favicon: pages('GET', '/favicon.ico', 'Get the icon', {
    description: 'For browsers and tools that look for it here.',
    successes: pageFile('The icon.', 'image/x-icon'),
  }),
  pageAsset: pages('GET', '/assets/:name', 'Get an asset of the page', {
    description: 'Scripts, styles and icons of the page, compressed as `Accept-Encoding` allows.',
    parameters: [inPath('name', 'The name of the asset.', 'icon.svg')],
    successes: pageFile('The file.', '*/*'),
  }),
};
