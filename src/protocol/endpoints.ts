/** All endpoints. The router and the documentation are built from this table. */
import { adminEndpoints } from './endpoints/admin-endpoints.ts';
import { filesEndpoints, uploadsEndpoints } from './endpoints/file-endpoints.ts';
import { liveEndpoints, roomsEndpoints, textEndpoints, webhooksEndpoints } from './endpoints/room-endpoints.ts';
import { pageEndpoints, serviceEndpoints } from './endpoints/service-endpoints.ts';

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
