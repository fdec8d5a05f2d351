import {defaultTransport} from '../cri/default-transport.js';
import type {MethodInfo} from '../cri/call-options.js';
import {SchemaSet} from '../cri/message-schema.js';
import {createServiceClient, type ServiceWire} from '../cri/service-client.js';
import * as csiSchema from './gen/csi/schema.js';
import {
  CONTROLLER_METHODS,
  NODE_METHODS,
  type Controller as CsiControllerService,
  type Node as CsiNodeService,
} from './gen/csi/services.js';
import {DEVICE_SCHEMAS} from './device-messages.js';
import * as draSchema from './gen/dra/schema.js';
import {DRAPLUGIN_METHODS, type DRAPlugin} from './gen/dra/services.js';
import * as healthSchema from './gen/dra-health/schema.js';
import {DRARESOURCEHEALTH_METHODS, type DRAResourceHealth} from './gen/dra-health/services.js';
import {DEVICEPLUGIN_METHODS, type DevicePlugin} from './gen/device-plugin/services.js';
import * as registrationSchema from './gen/plugin-registration/schema.js';
import {REGISTRATION_METHODS, type Registration} from './gen/plugin-registration/services.js';

/** A client of a service of a plugin, and its connection. */
export type PluginClient<Service> = Service & {
  /** Closes the connection and cancels every call on it. */
  readonly close: () => void;
};

/** Returns a client of the device plugin at a socket. The first call connects; calls have no deadline of their own. */
export function connectDevicePlugin(path: string): PluginClient<DevicePlugin> {
  return connectPlugin<DevicePlugin>(path, {
    service: 'v1beta1.DevicePlugin',
    methods: DEVICEPLUGIN_METHODS,
    schemas: DEVICE_SCHEMAS,
  });
}

/** Returns a client of the registration service of the plugin at a socket, like `connectDevicePlugin`. */
export function connectPluginRegistration(path: string): PluginClient<Registration> {
  return connectPlugin<Registration>(path, {
    service: 'pluginregistration.Registration',
    methods: REGISTRATION_METHODS,
    schemas: new SchemaSet({messages: registrationSchema.MESSAGES, enums: registrationSchema.ENUMS}),
  });
}

/** Version of the service of a DRA driver. */
export type DraVersion = 'v1' | 'v1beta1';

/** Returns the full name of the service of DRA drivers. */
export function draService(version: DraVersion): string {
  return `k8s.io.kubelet.pkg.apis.dra.${version}.DRAPlugin`;
}

/** Returns a client of the DRA driver at a socket, like `connectDevicePlugin`. */
export function connectDraDriver(path: string, version: DraVersion): PluginClient<DRAPlugin> {
  return connectPlugin<DRAPlugin>(path, {
    service: draService(version),
    methods: DRAPLUGIN_METHODS,
    schemas: new SchemaSet({messages: draSchema.MESSAGES, enums: draSchema.ENUMS}),
  });
}

/** Returns a client of the health service of the DRA driver at a socket, like `connectDevicePlugin`. */
export function connectDraHealth(path: string): PluginClient<DRAResourceHealth> {
  return connectPlugin<DRAResourceHealth>(path, {
    service: 'v1alpha1.DRAResourceHealth',
    methods: DRARESOURCEHEALTH_METHODS,
    schemas: new SchemaSet({messages: healthSchema.MESSAGES, enums: healthSchema.ENUMS}),
  });
}

/** Returns a client of the node service of the CSI driver at a socket, like `connectDevicePlugin`. */
export function connectCsiNode(
  path: string,
  observers: ServiceWire['observers'] = [],
): PluginClient<CsiNodeService> {
  const schemas = new SchemaSet({messages: csiSchema.MESSAGES, enums: csiSchema.ENUMS});
  return connectPlugin<CsiNodeService>(
    path,
    {service: 'csi.v1.Node', methods: NODE_METHODS, schemas},
    observers,
  );
}

/** Returns a client of the controller service of the CSI driver at a socket, like `connectDevicePlugin`. */
export function connectCsiController(path: string): PluginClient<CsiControllerService> {
  return connectPlugin<CsiControllerService>(path, {
    service: 'csi.v1.Controller',
    methods: CONTROLLER_METHODS,
    schemas: new SchemaSet({messages: csiSchema.MESSAGES, enums: csiSchema.ENUMS}),
  });
}

interface PluginInterface<Service> {
  readonly service: string;
  readonly methods: Readonly<Record<keyof Service & string, MethodInfo>>;
  readonly schemas: SchemaSet;
}

function connectPlugin<Service>(
  path: string,
  {service, methods, schemas}: PluginInterface<Service>,
  observers: ServiceWire['observers'] = [],
): PluginClient<Service> {
  const endpoint = `unix://${path}`;
  const transport = defaultTransport(endpoint, path);
  const wire = {transport, endpoint, schemas, timeoutMs: Infinity, observers};
  return {
    ...createServiceClient<Service>(service, methods, wire),
    close: () => {
      transport.close();
    },
  };
}
