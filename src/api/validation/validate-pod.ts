import type {FieldError, FieldErrors} from '../field-error.js';
import {duplicateValue, forbidden, invalidValue, requiredValue, tooLong} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import {
  checkDnsLabel,
  checkDnsSearch,
  checkDnsSubdomain,
  checkIp,
  checkQualifiedName,
  validateName,
} from './validate-names.js';
import type {NameCheck} from './validate-names.js';
import {podSpec} from '../types/v1-pod.js';
import {validateEach, validateRange, validateIfSet} from './field-validators.js';
import {validateContainers} from './validate-container.js';
import {validateEnumerations} from './validate-enumerations.js';
import {validateLabels, validateObjectMeta} from './validate-metadata.js';
import {validatePodAnnotations} from './validate-pod-annotations.js';
import {validateOverhead, validatePodResources} from './validate-resources.js';
import {validateAffinity, validateSpreadConstraints, validateToleration} from './validate-scheduling.js';
import {validateHostNamespaces, validatePodSecurityContext} from './validate-security.js';
import {validateVolumes} from './validate-volumes.js';
import type {HostAlias, Pod, PodDNSConfig, PodResourceClaim, PodSpec} from '../types/v1-pod.js';
import type {PodSchedulingGate} from '../types/v1-scheduling.js';

const MOST_NAMESERVERS = 3;
const MOST_SEARCHES = 32;
const LONGEST_SEARCH_LIST = 2048;
const LONGEST_HOSTNAME = 64;

/** Validates the names in a pod and the format of each. */
const NAMES: readonly (readonly [
  name: 'hostname' | 'nodeName' | 'priorityClassName' | 'serviceAccountName' | 'subdomain',
  check: NameCheck,
])[] = [
  ['serviceAccountName', checkDnsSubdomain],
  ['nodeName', checkDnsSubdomain],
  ['hostname', checkDnsLabel],
  ['subdomain', checkDnsLabel],
  ['priorityClassName', checkDnsSubdomain],
];

function* validateNames(spec: PodSpec, path: FieldPath): FieldErrors {
  for (const [name, check] of NAMES) {
    const value = spec[name] ?? '';
    if (value !== '') yield* validateName(value, path.child(name), check);
  }
  yield* validateIfSet(spec.runtimeClassName, path.child('runtimeClassName'), (name, at) =>
    validateName(name, at, checkDnsSubdomain),
  );
}

/** Validates host name settings (validatePodHostName). */
function* validateHostnameOverride(hostname: string, path: FieldPath, spec: PodSpec): FieldErrors {
  if (spec.setHostnameAsFQDN === true)
    yield forbidden(path, 'may not be specified when setHostnameAsFQDN is true');
  if (spec.hostNetwork === true) yield forbidden(path, 'may not be specified when hostNetwork is true');
  if (hostname.length > LONGEST_HOSTNAME) yield tooLong(path, LONGEST_HOSTNAME);
  yield* validateName(hostname, path, checkDnsSubdomain);
}

function* validateDnsConfig(config: PodDNSConfig, path: FieldPath): FieldErrors {
  const {nameservers = [], searches = [], options = []} = config;
  if (nameservers.length > MOST_NAMESERVERS) {
    const rule = `must not have more than ${MOST_NAMESERVERS} nameservers`;
    yield invalidValue(path.child('nameservers'), nameservers, rule);
  }
  yield* validateEach(nameservers, path.child('nameservers'), (server, at) =>
    validateName(server, at, checkIp),
  );
  if (searches.length > MOST_SEARCHES) {
    yield invalidValue(
      path.child('searches'),
      searches,
      `must not have more than ${MOST_SEARCHES} search paths`,
    );
  }
  if (searches.join(' ').length > LONGEST_SEARCH_LIST) {
    const rule = `must not have more than ${LONGEST_SEARCH_LIST} characters (including spaces) in the search list`;
    yield invalidValue(path.child('searches'), searches, rule);
  }
  yield* validateEach(searches, path.child('searches'), function* (search, at) {
    if (search !== '.') yield* validateName(search.replace(/\.$/, ''), at, checkDnsSearch);
  });
  for (const [index, {name = ''}] of options.entries()) {
    if (name === '') yield requiredValue(path.child('options').index(index), 'must not be empty');
  }
}

/** Validates the DNS configuration, which dnsPolicy None requires (validatePodDNSConfig). */
function* validateDns({dnsPolicy, dnsConfig}: PodSpec, path: FieldPath): FieldErrors {
  if (dnsPolicy === 'None' && dnsConfig === undefined) {
    yield requiredValue(path, 'must provide `dnsConfig` when `dnsPolicy` is None');
  } else if (dnsPolicy === 'None' && (dnsConfig?.nameservers ?? []).length === 0) {
    const rule = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    yield requiredValue(path.child('nameservers'), rule);
  } else {
    yield* validateIfSet(dnsConfig, path, validateDnsConfig);
  }
}

function* validateHostAlias({ip, hostnames}: HostAlias, path: FieldPath): FieldErrors {
  yield* validateName(ip, path.child('ip'), checkIp);
  yield* validateEach(hostnames, path.child('hostnames'), (name, at) =>
    validateName(name, at, checkDnsSubdomain),
  );
}

function* validateSchedulingGates(gates: readonly PodSchedulingGate[], path: FieldPath): FieldErrors {
  const seen = new Set<string>();
  for (const [index, {name}] of gates.entries()) {
    yield* validateName(name, path.index(index), checkQualifiedName);
    if (seen.has(name)) yield duplicateValue(path.index(index), name);
    seen.add(name);
  }
}

function* validateResourceClaim(claim: PodResourceClaim, path: FieldPath): FieldErrors {
  const {name, resourceClaimName, resourceClaimTemplateName} = claim;
  if (name === '') yield requiredValue(path.child('name'));
  else yield* validateName(name, path.child('name'), checkDnsLabel);
  if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
    const rule = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
    yield invalidValue(path, claim, rule);
  } else if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
    yield invalidValue(path, claim, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
  }
  for (const [field, value] of Object.entries({resourceClaimName, resourceClaimTemplateName})) {
    yield* validateIfSet(value, path.child(field), (reference, at) =>
      validateName(reference, at, checkDnsSubdomain),
    );
  }
}

function* validateResourceClaims(claims: readonly PodResourceClaim[], path: FieldPath): FieldErrors {
  yield* validateEach(claims, path, validateResourceClaim);
  const seen = new Set<string>();
  for (const [index, {name}] of claims.entries()) {
    if (name !== '' && seen.has(name)) yield duplicateValue(path.index(index).child('name'), name);
    seen.add(name);
  }
}

/** Checks that a service account token has a service account (validatePodMetadataAndSpec). */
function* validateTokens({volumes = [], serviceAccountName = ''}: PodSpec, path: FieldPath): FieldErrors {
  if (serviceAccountName !== '') return;
  for (const [index, {projected}] of volumes.entries()) {
    for (const [source, {serviceAccountToken}] of (projected?.sources ?? []).entries()) {
      if (serviceAccountToken === undefined) continue;
      const at = path.child('volumes').index(index).child('projected', 'sources').index(source);
      const rule = 'must not be specified when serviceAccountName is not set';
      yield forbidden(at.child('serviceAccountToken'), rule);
    }
  }
}

/** Validates the parts of the spec that are lists or objects. */
function* validateParts(spec: PodSpec, path: FieldPath): FieldErrors {
  yield* validateVolumes(spec.volumes ?? [], path.child('volumes'));
  yield* validateResourceClaims(spec.resourceClaims ?? [], path.child('resourceClaims'));
  yield* validateContainers(spec, path);
  yield* validateIfSet(spec.resources, path.child('resources'), (resources, at) =>
    validatePodResources(resources, at, spec),
  );
  yield* validateLabels(spec.nodeSelector, path.child('nodeSelector'));
  yield* validateIfSet(spec.securityContext, path.child('securityContext'), (context, at) =>
    validatePodSecurityContext(context, at, spec),
  );
  yield* validateIfSet(spec.affinity, path.child('affinity'), validateAffinity);
  yield* validateDns(spec, path.child('dnsConfig'));
  yield* validateEach(spec.readinessGates, path.child('readinessGates'), ({conditionType}, at) =>
    validateName(conditionType, at.child('conditionType'), checkQualifiedName),
  );
  yield* validateSchedulingGates(spec.schedulingGates ?? [], path.child('schedulingGates'));
  yield* validateSpreadConstraints(
    spec.topologySpreadConstraints ?? [],
    path.child('topologySpreadConstraints'),
  );
  yield* validateEach(spec.tolerations, path.child('tolerations'), validateToleration);
  yield* validateEach(spec.hostAliases, path.child('hostAliases'), validateHostAlias);
  yield* validateIfSet(spec.overhead, path.child('overhead'), validateOverhead);
}

function* validateSpec(spec: PodSpec, path: FieldPath): FieldErrors {
  yield* validateEnumerations(podSpec, spec, path);
  yield* validateParts(spec, path);
  yield* validateHostNamespaces(spec, path);
  yield* validateIfSet(spec.hostnameOverride, path.child('hostnameOverride'), (hostname, at) =>
    validateHostnameOverride(hostname, at, spec),
  );
  yield* validateNames(spec, path);
  yield* validateRange(spec.activeDeadlineSeconds, path.child('activeDeadlineSeconds'), 1, 2 ** 31 - 1);
  yield* validateTokens(spec, path);
  if ((spec.ephemeralContainers ?? []).length > 0) {
    yield forbidden(path.child('ephemeralContainers'), 'cannot be set on create');
  }
  if ((spec.nodeName ?? '') !== '' && (spec.schedulingGates ?? []).length > 0) {
    yield forbidden(path.child('nodeName'), 'cannot be set until all schedulingGates have been cleared');
  }
}

/**
 * Validates a new Pod and returns every violated rule with the API server's message (ValidatePodCreate). The Pod must
 * have its defaults (applyPodDefaults). Rules for Windows pods are omitted, because a kubelet on Linux rejects such
 * pods.
 */
export function validatePod(pod: Pod): readonly FieldError[] {
  const root = new FieldPath();
  return [
    ...validateObjectMeta(pod.metadata, root.child('metadata')),
    ...validatePodAnnotations(pod, root.child('metadata', 'annotations')),
    ...validateSpec(pod.spec, root.child('spec')),
  ];
}
