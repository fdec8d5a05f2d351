import {BlockList, isIP, isIPv6} from 'node:net';
import type {FieldErrors} from '../field-error.js';
import {duplicateValue, forbidden, invalidValue, unsupportedValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import type {ServiceSpec} from '../types/v1-services.js';
import {validateEach, validateIfSet, validateRange} from './field-validators.js';
import {checkIp, checkQualifiedName, validateName} from './validate-names.js';

/** Values of the fields that are not enumerations in the schema, since a node does not read them. */
const WORDS = {
  sessionAffinity: ['ClientIP', 'None'],
  externalTrafficPolicy: ['Cluster', 'Local'],
  internalTrafficPolicy: ['Cluster', 'Local'],
  ipFamilyPolicy: ['PreferDualStack', 'RequireDualStack', 'SingleStack'],
  trafficDistribution: ['PreferClose', 'PreferSameZone', 'PreferSameNode'],
} as const satisfies Partial<Record<keyof ServiceSpec, readonly string[]>>;
type Word = keyof typeof WORDS;

/** Fields for which an empty string counts as absent. */
const DEFAULTED: readonly Word[] = ['sessionAffinity', 'externalTrafficPolicy'];
const IP_FAMILIES = ['IPv4', 'IPv6'];

function* validateWords(spec: ServiceSpec, path: FieldPath): FieldErrors {
  for (const name of Object.keys(WORDS) as Word[]) {
    const value = spec[name];
    const isAbsent = value === undefined || (value === '' && DEFAULTED.includes(name));
    if (!isAbsent && !(WORDS[name] as readonly string[]).includes(value))
      yield unsupportedValue(path.child(name), value, WORDS[name]);
  }
}

function* validateFamilies({ipFamilies = []}: ServiceSpec, path: FieldPath): FieldErrors {
  for (const [index, family] of ipFamilies.entries()) {
    const at = path.child('ipFamilies').index(index);
    if (!IP_FAMILIES.includes(family)) yield unsupportedValue(at, family, IP_FAMILIES);
    if (ipFamilies.indexOf(family) < index) yield duplicateValue(at, family);
  }
}

/** Validates the list of cluster IPs (ValidateServiceClusterIPsRelatedFields). */
function* validateClusterIps({clusterIP = '', clusterIPs = []}: ServiceSpec, path: FieldPath): FieldErrors {
  const at = path.child('clusterIPs');
  const [first, ...others] = clusterIPs;
  if (first === undefined) return;
  if (clusterIP === '') yield invalidValue(at, clusterIPs, 'must be empty when `clusterIP` is not specified');
  else if (first !== clusterIP) yield invalidValue(at, clusterIPs, 'first value must match `clusterIP`');
  if (first === 'None' && others.length > 0)
    yield invalidValue(at, clusterIPs, "'None' must be the first and only value");
  for (const [index, ip] of clusterIPs.entries())
    if (index > 0 || ip !== 'None') yield* validateName(ip, at.index(index), checkIp);
  yield* validateDualStack(clusterIPs, at);
}

function* validateDualStack(ips: readonly string[], path: FieldPath): FieldErrors {
  if (ips.length > 2) yield invalidValue(path, ips, 'may only hold up to 2 values');
  if (ips.length > 1 && new Set(ips.map(isIPv6)).size < 2)
    yield invalidValue(path, ips, 'may specify no more than one IP for each IP family');
}

/** Validates fields of Services of type LoadBalancer, which others must not have. */
function* validateLoadBalancer(spec: ServiceSpec, path: FieldPath): FieldErrors {
  const isBalanced = spec.type === 'LoadBalancer';
  const {loadBalancerSourceRanges = [], allocateLoadBalancerNodePorts, loadBalancerClass} = spec;
  const only = "may only be used when `type` is 'LoadBalancer'";
  if (!isBalanced && loadBalancerSourceRanges.length > 0)
    yield forbidden(path.child('loadBalancerSourceRanges'), only);
  if (!isBalanced && allocateLoadBalancerNodePorts !== undefined)
    yield forbidden(path.child('allocateLoadBalancerNodePorts'), only);
  if (!isBalanced && loadBalancerClass !== undefined) yield forbidden(path.child('loadBalancerClass'), only);
  yield* validateEach(loadBalancerSourceRanges, path.child('loadBalancerSourceRanges'), validateRangeOfIps);
  if (isBalanced)
    yield* validateIfSet(loadBalancerClass, path.child('loadBalancerClass'), (name, at) =>
      validateName(name, at, checkQualifiedName),
    );
}

/** Reports whether an IPv4 address has bits set beyond the prefix length. */
function hasHostBits(ip: string, bits: number): boolean {
  const number = ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return number % 2 ** (32 - bits) !== 0;
}

function* validateRangeOfIps(text: string, path: FieldPath): FieldErrors {
  const [ip = '', bits = '', ...others] = text.trim().split('/');
  const most = isIP(ip) === 4 ? 32 : 128;
  const isValid =
    isIP(ip) !== 0 && /^(0|[1-9]\d*)$/.test(bits) && Number(bits) <= most && others.length === 0;
  if (!isValid)
    yield invalidValue(path, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)');
  else if (isIP(ip) === 4 && hasHostBits(ip, Number(bits)))
    yield invalidValue(path, text, 'must not have bits set beyond the prefix length');
}

/** Addresses that lead to no other node, with the API server's messages (ValidateEndpointIP). */
const SPECIAL: readonly (readonly [block: BlockList, message: string])[] = [
  [blockOf(['0.0.0.0', 32], ['::', 128]), 'may not be unspecified (0.0.0.0)'],
  [blockOf(['127.0.0.0', 8], ['::1', 128]), 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [
    blockOf(['169.254.0.0', 16], ['fe80::', 10]),
    'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  ],
  [
    blockOf(['224.0.0.0', 24], ['ff02::', 16]),
    'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
  ],
];

function blockOf(...ranges: readonly (readonly [address: string, bits: number])[]): BlockList {
  const block = new BlockList();
  for (const [address, bits] of ranges) block.addSubnet(address, bits, isIPv6(address) ? 'ipv6' : 'ipv4');
  return block;
}

function checkExternalIp(ip: string): readonly string[] {
  const problems = checkIp(ip);
  if (problems.length > 0) return problems;
  return SPECIAL.flatMap(([block, message]) =>
    block.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4') ? [message] : [],
  );
}

/** Validates external traffic: only Services that are reachable from outside have it. */
function* validateExternal(spec: ServiceSpec, path: FieldPath): FieldErrors {
  const {externalIPs = [], externalTrafficPolicy = '', healthCheckNodePort = 0} = spec;
  const type = spec.type ?? 'ClusterIP';
  const isExternal =
    ['NodePort', 'LoadBalancer'].includes(type) || (type === 'ClusterIP' && externalIPs.length > 0);
  if (externalTrafficPolicy !== '' && !isExternal)
    yield invalidValue(
      path.child('externalTrafficPolicy'),
      externalTrafficPolicy,
      'may only be set for externally-accessible services',
    );
  yield* validateEach(externalIPs, path.child('externalIPs'), (ip, at) =>
    validateName(ip, at, checkExternalIp),
  );
  const needsCheck = type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
  const check = path.child('healthCheckNodePort');
  if (healthCheckNodePort !== 0 && !needsCheck)
    yield invalidValue(
      check,
      healthCheckNodePort,
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    );
  else yield* validateRange(healthCheckNodePort, check, 0, 65_535);
}

/** Validates the fields of a Service that concern the traffic of a cluster and have no effect on one node. */
export function* validateServiceTraffic(spec: ServiceSpec, path: FieldPath): FieldErrors {
  yield* validateWords(spec, path);
  if (spec.type !== 'ExternalName') {
    yield* validateFamilies(spec, path);
    yield* validateClusterIps(spec, path);
  }
  yield* validateLoadBalancer(spec, path);
  yield* validateExternal(spec, path);
  if (spec.type !== 'ExternalName') return;
  const unset = 'may not be set for ExternalName services';
  if ((spec.ipFamilies ?? []).length > 0) yield forbidden(path.child('ipFamilies'), unset);
  if (spec.ipFamilyPolicy !== undefined) yield forbidden(path.child('ipFamilyPolicy'), unset);
}
