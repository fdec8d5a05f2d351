import type {Service, ServicePort, ServiceSpec} from '../types/v1-services.js';
import {PROTOCOLS} from '../types/v1-pod.js';
import {SERVICE_TYPES} from '../types/v1-services.js';
import {
  anything,
  bool,
  enumeration,
  int32,
  intOrString,
  list,
  map,
  object,
  objectSchema,
  required,
  text,
} from './object-schema.js';
import {objectMeta} from './schema-meta.js';

// The fields of the types in v1-services.ts, in upstream's order.

const servicePort = objectSchema<ServicePort>('ServicePort', {
  name: text,
  protocol: enumeration(PROTOCOLS),
  appProtocol: text,
  port: required(int32),
  targetPort: intOrString,
  nodePort: int32,
});

const serviceSpec = objectSchema<ServiceSpec>('ServiceSpec', {
  ports: list(object(servicePort)),
  selector: map(text),
  clusterIP: text,
  clusterIPs: list(text),
  type: enumeration(SERVICE_TYPES),
  externalIPs: list(text),
  sessionAffinity: text,
  loadBalancerIP: text,
  loadBalancerSourceRanges: list(text),
  externalName: text,
  externalTrafficPolicy: text,
  healthCheckNodePort: int32,
  publishNotReadyAddresses: bool,
  sessionAffinityConfig: anything,
  ipFamilies: list(text),
  ipFamilyPolicy: text,
  allocateLoadBalancerNodePorts: bool,
  loadBalancerClass: text,
  internalTrafficPolicy: text,
  trafficDistribution: text,
});

export const service = objectSchema<Service>('Service', {
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['Service'])),
  metadata: required(object(objectMeta)),
  spec: required(object(serviceSpec)),
  status: anything,
});
