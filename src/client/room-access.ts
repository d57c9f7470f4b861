/** How a client accesses a room. */
export interface RoomAccess {
  code: string;
  pin: string | undefined;
  deviceId: string | undefined;
  deviceName: string | undefined;
}
