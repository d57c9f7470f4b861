/** All endpoints. The router and the documentation are built from this table. */
import { adminEndpoints } from './endpoints/admin-endpoints.ts';
import { filesEndpoints } from './endpoints/file-endpoints.ts';
import { liveEndpoints, roomsEndpoints } from './endpoints/room-endpoints.ts';
import { pageEndpoints, serviceEndpoints } from './endpoints/service-endpoints.ts';
import { textEndpoints } from './endpoints/text-endpoints.ts';
import { uploadsEndpoints } from './endpoints/upload-endpoints.ts';
import { webhooksEndpoints } from './endpoints/webhook-endpoints.ts';

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
