const DEFAULT_ADDRESS = 'unix:path=/var/run/dbus/system_bus_socket';

/** Returns the address of the system's message bus: that of the environment, or the usual one. */
export function systemBusAddress(): string {
  return process.env['DBUS_SYSTEM_BUS_ADDRESS'] ?? DEFAULT_ADDRESS;
}
