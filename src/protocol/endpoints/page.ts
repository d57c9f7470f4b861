/** The URLs of the page. */

import { roomId } from '../parameters.ts';
import { type Endpoint, pageResponses } from './endpoint.ts';

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
      'The same page. It shows a QR code, by which another device invites it into a room. The link in the QR code has the invitation in its fragment.',
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
