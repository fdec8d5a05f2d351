import {
  type Described,
  anything,
  bool,
  enumeration,
  int32,
  intOrString,
  list,
  map,
  object,
  required,
  schemaOf,
  text,
} from '../schema/object-schema.js';
import {objectMeta} from './v1-meta.js';
import {PROTOCOLS} from './v1-pod.js';

/** Types of Services. */
export const SERVICE_TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] as const;

/** Port of a Service. */
export interface ServicePort extends Described<typeof servicePort> {}
const servicePort = schemaOf<ServicePort>('ServicePort')({
  name: text,
  protocol: enumeration(PROTOCOLS),
  appProtocol: text,
  port: required(int32),
  /** Port of the pods, or the name of a container port; `port` by default. */
  targetPort: intOrString,
  nodePort: int32,
});

/** Pods of a Service and how clients reach them. */
export interface ServiceSpec extends Described<typeof serviceSpec> {}
const serviceSpec = schemaOf<ServiceSpec>('ServiceSpec')({
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

/** Name for a set of pods (core/v1 Service). */
export interface Service extends Described<typeof service> {}
export const service = schemaOf<Service>('Service')({
  apiVersion: required(enumeration(['v1'])),
  kind: required(enumeration(['Service'])),
  metadata: required(object(objectMeta)),
  spec: required(object(serviceSpec)),
  status: anything,
});
