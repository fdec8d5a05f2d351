import type {FieldErrors} from '../field-error.js';
import {duplicateValue, forbidden, invalidValue, requiredValue} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import {service as serviceSchema} from '../types/v1-services.js';
import type {Service, ServicePort, ServiceSpec} from '../types/v1-services.js';
import {
  validateEach,
  validateIfSet,
  validateRange,
  validateRequired,
  validateUnique,
} from './field-validators.js';
import {validateEnumerations} from './validate-enumerations.js';
import {validateLabels} from './validate-metadata.js';
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkIp,
  checkPortName,
  checkQualifiedName,
  validateName,
} from './validate-names.js';
import {validateServiceTraffic} from './validate-service-traffic.js';

const HIGHEST_PORT = 65_535;

function* validatePort(port: ServicePort, path: FieldPath, needsName: boolean): FieldErrors {
  const {name = '', port: number, targetPort, nodePort, appProtocol} = port;
  if (name !== '') yield* validateName(name, path.child('name'), checkDnsLabel);
  else if (needsName) yield requiredValue(path.child('name'));
  yield* validateRange(number, path.child('port'), 1, HIGHEST_PORT);
  yield* validateTargetPort(targetPort, path.child('targetPort'));
  yield* validateRange(nodePort, path.child('nodePort'), 0, HIGHEST_PORT);
  yield* validateIfSet(appProtocol, path.child('appProtocol'), (protocol, at) =>
    validateName(protocol, at, checkQualifiedName),
  );
}

function* validateTargetPort(port: ServicePort['targetPort'], path: FieldPath): FieldErrors {
  if (typeof port === 'string') yield* validateName(port, path, checkPortName);
  else if (port !== 0) yield* validateRange(port, path, 1, HIGHEST_PORT);
}

/** Validates the ports: they need different names, and different numbers for each protocol. */
function* validatePorts(ports: readonly ServicePort[], path: FieldPath): FieldErrors {
  yield* validateEach(ports, path, (port, at) => validatePort(port, at, ports.length > 1));
  yield* validateUnique(ports.map(({name = ''}, index) => [name, path.index(index).child('name')] as const));
  const numbers = ports.map(
    ({port, protocol = 'TCP'}, index) => [`${protocol} ${port}`, path.index(index)] as const,
  );
  yield* validateUnique(numbers);
}

/** Validates node ports: Services of type ClusterIP have none, and others a different one for each port and protocol. */
function* validateNodePorts(
  ports: readonly ServicePort[],
  path: FieldPath,
  type: ServiceSpec['type'],
): FieldErrors {
  const seen = new Set<string>();
  for (const [index, {nodePort = 0, protocol = 'TCP'}] of ports.entries()) {
    if (nodePort === 0) continue;
    const at = path.index(index).child('nodePort');
    if (type === 'ClusterIP') yield forbidden(at, "may not be used when `type` is 'ClusterIP'");
    const key = `${protocol} ${nodePort}`;
    if (seen.has(key)) yield duplicateValue(at, nodePort);
    seen.add(key);
  }
}

function* validateAddress({clusterIP = '', type}: ServiceSpec, path: FieldPath): FieldErrors {
  const at = path.child('clusterIP');
  if (type === 'ExternalName') return;
  if (clusterIP === 'None' && (type === 'NodePort' || type === 'LoadBalancer'))
    yield invalidValue(at, clusterIP, `may not be set to 'None' for ${type} services`);
  if (clusterIP !== '' && clusterIP !== 'None') yield* validateName(clusterIP, at, checkIp);
}

/** Validates the contents of a Service (the part of ValidateService that concerns one node). */
export function* validateService(service: Service): FieldErrors {
  const path = new FieldPath(['spec']);
  const {spec} = service;
  const {ports = [], selector, type = 'ClusterIP', externalName} = spec;
  yield* validateEnumerations(serviceSchema, {spec}, new FieldPath());
  yield* validateName(service.metadata.name ?? '', new FieldPath(['metadata', 'name']), checkDnsLabel);
  yield* validateLabels(selector, path.child('selector'));
  yield* validateAddress(spec, path);
  yield* validateServiceTraffic(spec, path);
  if (type === 'ExternalName') {
    yield* validateRequired(externalName, path.child('externalName'));
    if (externalName)
      yield* validateName(externalName.replace(/\.$/, ''), path.child('externalName'), checkDnsSubdomain);
    return;
  }
  if (ports.length === 0 && spec.clusterIP !== 'None') yield requiredValue(path.child('ports'));
  yield* validatePorts(ports, path.child('ports'));
  yield* validateNodePorts(ports, path.child('ports'), type);
}
