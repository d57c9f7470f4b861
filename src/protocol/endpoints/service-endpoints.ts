/** Endpoints of the server itself, and the URLs of the page. */

import * as schemas from '../schemas.ts';
import { anyRequest, type Endpoint, pageResponses, roomId } from './endpoint.ts';

export const serviceEndpoints = {
  health: {
    method: 'GET',
    path: '/api/health',
    tag: 'Service',
    summary: 'Check service health',
    description:
      'Reports whether the server and its stores respond. Counts as a request, like everything under `/api`. For probes, use `/readyz`.',
    successes: [
      { status: 200, description: 'All stores respond.', schema: schemas.healthReport },
      {
        status: 503,
        description: 'A store does not respond: `status` is `degraded`.',
        schema: schemas.healthReport,
        example: { status: 'degraded', timestamp: '2026-11-15T09:30:00.000Z', uptime: 86_400.123 },
      },
    ],
    errors: ['VALIDATION_FAILED', 'INVALID_API_KEY', 'ADDRESS_BLOCKED', 'RATE_LIMITED', 'INTERNAL'],
    counted: true,
    alwaysOpen: true,
  },
  getLimits: {
    method: 'GET',
    path: '/api/limits',
    tag: 'Service',
    summary: 'Get the limits of the server',
    description: 'Returns the limits of this server, and how much you have stored.',
    successes: [{ status: 200, description: 'The limits.', schema: schemas.serverLimits }],
    errors: anyRequest,
    counted: true,
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    tag: 'Service',
    summary: 'Get the OpenAPI document',
    description: 'The API in machine-readable form.',
    successes: [{ status: 200, description: 'The document.', schema: schemas.apiDescription }],
    errors: anyRequest,
    counted: true,
  },
  asyncapi: {
    method: 'GET',
    path: '/api/asyncapi.json',
    tag: 'Service',
    summary: 'Get the AsyncAPI document',
    description: 'The live channel in machine-readable form.',
    successes: [{ status: 200, description: 'The document.', schema: schemas.liveDescription }],
    errors: anyRequest,
    counted: true,
  },
  docs: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'Read the documentation',
    description: 'The API documentation as a page, with the URL and the limits of this server.',
    successes: pageResponses,
    errors: ['VALIDATION_FAILED', 'ADDRESS_BLOCKED', 'NOT_FOUND', 'INTERNAL'],
    counted: false,
    sameOriginOnly: true,
  },
  live: {
    method: 'GET',
    path: '/livez',
    tag: 'Service',
    summary: 'Liveness probe',
    description: 'For a supervisor: restart the server if this does not respond.',
    successes: [{ status: 200, description: 'The process runs.', schema: schemas.probe }],
    errors: ['VALIDATION_FAILED', 'INTERNAL'],
    counted: false,
  },
  ready: {
    method: 'GET',
    path: '/readyz',
    tag: 'Service',
    summary: 'Readiness probe',
    description:
      'For a load balancer: checks that the stores respond and evict nothing, that the disk has space for texts, and that expired rooms are removed in time. ' +
      'If there is no space for files, `uploads` is `full`, but the server is still ready, because texts work.',
    successes: [
      { status: 200, description: 'The server is ready.', schema: schemas.readiness },
      {
        status: 503,
        description: 'The server is not ready. See `checks` for the reason.',
        schema: schemas.readiness,
        example: {
          status: 'not ready',
          checks: { store: 'ok', files: 'ok', disk: 'failing', uploads: 'full', sweep: 'ok', server: 'ok' },
        },
      },
    ],
    errors: ['VALIDATION_FAILED', 'INTERNAL'],
    counted: false,
  },
  robots: {
    method: 'GET',
    path: '/robots.txt',
    tag: 'Service',
    summary: 'Rules for search engines',
    description: 'Keeps robots away from the API, and from everything on a public demonstration (`POPROOM_DEMO=true`).',
    successes: [
      { status: 200, description: 'The rules.', mediaType: 'text/plain', example: 'User-agent: *\nDisallow: /api/\n' },
    ],
    errors: ['VALIDATION_FAILED', 'ADDRESS_BLOCKED', 'INTERNAL'],
    counted: false,
    sameOriginOnly: true,
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    tag: 'Service',
    summary: 'Metrics for Prometheus',
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
    errors: ['VALIDATION_FAILED', 'API_KEY_REQUIRED', 'INVALID_API_KEY', 'NOT_FOUND', 'INTERNAL'],
    counted: false,
    sameOriginOnly: true,
  },
} as const satisfies Record<string, Endpoint>;

const anyPage = {
  method: 'GET',
  tag: 'Page',
  errors: ['VALIDATION_FAILED', 'ADDRESS_BLOCKED', 'NOT_FOUND', 'INTERNAL'],
  counted: false,
  sameOriginOnly: true,
} as const;

export const pageEndpoints = {
  home: {
    ...anyPage,
    path: '/',
    summary: 'Open the page',
    description: 'The start page, where people create or join a room.',
    successes: pageResponses,
  },
  roomPage: {
    ...anyPage,
    path: '/r/:roomId',
    summary: 'Open the page in a room',
    description: 'The same page, whether or not the room exists. The page checks this itself.',
    parameters: [roomId],
    successes: pageResponses,
  },
  sharePage: {
    ...anyPage,
    path: '/share',
    summary: 'Share to the page',
    description: 'The same page, as the share target of a device.',
    successes: pageResponses,
  },
  invitePage: {
    ...anyPage,
    path: '/invite',
    summary: 'Invite a screen',
    description:
      'The same page, with a QR code. A device that scans it invites this one into a room. The invitation is in the fragment of the link.',
    successes: pageResponses,
  },
  favicon: {
    ...anyPage,
    path: '/favicon.ico',
    summary: 'Get the icon',
    description: 'For browsers and tools that look for it here.',
    successes: [
      { status: 200, description: 'The icon.', mediaType: 'image/x-icon', headers: ['PageETag'] },
      { status: 304, description: 'Your version is current.', headers: ['PageETag'] },
    ],
  },
  pageAsset: {
    ...anyPage,
    path: '/assets/:name',
    summary: 'Get an asset of the page',
    description: 'Scripts, styles and icons of the page, compressed as `Accept-Encoding` allows.',
    parameters: [
      { name: 'name', in: 'path', required: true, description: 'The name of the asset.', example: 'icon.svg' },
    ],
    successes: [
      { status: 200, description: 'The file.', mediaType: '*/*', headers: ['PageETag'] },
      { status: 304, description: 'Your version is current.', headers: ['PageETag'] },
    ],
  },
} as const satisfies Record<string, Endpoint>;
