/** All endpoints. The router and the documentation are built from this table. */
import { adminEndpoints } from './endpoints/admin.ts';
import { filesEndpoints } from './endpoints/files.ts';
import { liveEndpoints, roomsEndpoints } from './endpoints/rooms.ts';
import { pageEndpoints, serviceEndpoints } from './endpoints/service.ts';
import { textEndpoints } from './endpoints/text.ts';
import { uploadsEndpoints } from './endpoints/uploads.ts';
import { webhooksEndpoints } from './endpoints/webhooks.ts';

/** In the order of the documentation. */
export const endpoints = {
  ...roomsEndpoints,
  ...textEndpoints,
  ...filesEndpoints,
  ...uploadsEndpoints,
  ...liveEndpoints,
  ...webhooksEndpoints,
  ...serviceEndpoints,
  ...pageEndpoints,
  ...adminEndpoints,
};

export type EndpointName = keyof typeof endpoints;
