import type {FieldErrors} from '../field-error.js';
import {duplicateValue, forbidden, invalidValue, requiredValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {checkDnsLabel, checkDnsSubdomain, checkLabelValue, validateName} from './validate-names.js';
import {validateEach, validatePositive, validateIfSet} from './field-validators.js';
import {validateLabelName, validateLabelSelector, validateOperands} from './validate-metadata.js';
import type {LabelSelector} from '../types/v1-meta.js';
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  Toleration,
  TopologySpreadConstraint,
} from '../types/v1-scheduling.js';

/** Validates a condition on a node label (ValidateNodeSelectorRequirement). */
function* validateNodeRequirement(requirement: NodeSelectorRequirement, path: FieldPath): FieldErrors {
  const {key, operator, values = []} = requirement;
  yield* validateOperands(requirement, path.child('values'));
  if ((operator === 'Gt' || operator === 'Lt') && values.length !== 1) {
    yield requiredValue(
      path.child('values'),
      "must be specified single value when `operator` is 'Lt' or 'Gt'",
    );
  }
  yield* validateLabelName(key, path.child('key'));
  yield* validateEach(values, path.child('values'), (value, at) => validateName(value, at, checkLabelValue));
}

/** Validates a condition on a node field, which can only be the name (ValidateNodeFieldSelectorRequirement). */
function* validateNodeField(requirement: NodeSelectorRequirement, path: FieldPath): FieldErrors {
  const {key, operator, values = []} = requirement;
  if (operator !== 'In' && operator !== 'NotIn') {
    yield invalidValue(path.child('operator'), operator, 'not a valid selector operator');
  } else if (values.length !== 1) {
    const rule = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    yield requiredValue(path.child('values'), rule);
  }
  if (key !== 'metadata.name') yield invalidValue(path.child('key'), key, 'not a valid field selector key');
  else
    yield* validateEach(values, path.child('values'), (value, at) =>
      validateName(value, at, checkDnsSubdomain),
    );
}

function* validateNodeTerm(term: NodeSelectorTerm, path: FieldPath): FieldErrors {
  yield* validateEach(term.matchExpressions, path.child('matchExpressions'), validateNodeRequirement);
  yield* validateEach(term.matchFields, path.child('matchFields'), validateNodeField);
}

/** Validates a selector of nodes (ValidateNodeSelector). */
export function* validateNodeSelector(selector: NodeSelector, path: FieldPath): FieldErrors {
  const at = path.child('nodeSelectorTerms');
  if (selector.nodeSelectorTerms.length === 0)
    yield requiredValue(at, 'must have at least one node selector term');
  yield* validateEach(selector.nodeSelectorTerms, at, validateNodeTerm);
}

function* validateWeight(weight: number, path: FieldPath): FieldErrors {
  if (weight < 1 || weight > 100)
    yield invalidValue(path.child('weight'), weight, 'must be in the range 1-100');
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function* validateNodeAffinity(affinity: NodeAffinity, path: FieldPath): FieldErrors {
  yield* validateIfSet(affinity[REQUIRED], path.child(REQUIRED), validateNodeSelector);
  yield* validateEach(affinity[PREFERRED], path.child(PREFERRED), function* (term, at) {
    yield* validateWeight(term.weight, at);
    yield* validateNodeTerm(term.preference, at.child('preference'));
  });
}

interface LabelKeys {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/** Validates label keys (ValidateMatchLabelKeysAndMismatchLabelKeys). */
function* validateLabelKeys(term: LabelKeys, path: FieldPath): FieldErrors {
  for (const name of ['matchLabelKeys', 'mismatchLabelKeys'] as const) {
    const keys = term[name] ?? [];
    if (keys.length > 0 && term.labelSelector === undefined) {
      yield forbidden(path.child(name), 'must not be specified when labelSelector is not set');
    } else {
      yield* validateEach(keys, path.child(name), validateLabelName);
    }
  }
  const refused = new Set(term.mismatchLabelKeys);
  for (const [index, key] of (term.matchLabelKeys ?? []).entries()) {
    if (refused.has(key)) {
      const at = path.child('matchLabelKeys').index(index);
      yield invalidValue(at, key, 'exists in both matchLabelKeys and mismatchLabelKeys');
    }
  }
}

function* validatePodTerm(term: PodAffinityTerm, path: FieldPath): FieldErrors {
  yield* validateLabelSelector(term.labelSelector, path.child('labelSelector'));
  yield* validateLabelSelector(term.namespaceSelector, path.child('namespaceSelector'));
  yield* validateEach(term.namespaces, path.child('namespaces'), (name, at) =>
    validateName(name, at, checkDnsLabel),
  );
  yield* validateLabelKeys(term, path);
  if (term.topologyKey === '') yield requiredValue(path.child('topologyKey'), 'can not be empty');
  else yield* validateLabelName(term.topologyKey, path.child('topologyKey'));
}

function* validatePodAffinity(affinity: PodAffinity, path: FieldPath): FieldErrors {
  yield* validateEach(affinity[REQUIRED], path.child(REQUIRED), validatePodTerm);
  yield* validateEach(affinity[PREFERRED], path.child(PREFERRED), function* (term, at) {
    yield* validateWeight(term.weight, at);
    yield* validatePodTerm(term.podAffinityTerm, at.child('podAffinityTerm'));
  });
}

/** Validates the affinity of a pod (validateAffinity). */
export function* validateAffinity(affinity: Affinity, path: FieldPath): FieldErrors {
  yield* validateIfSet(affinity.nodeAffinity, path.child('nodeAffinity'), validateNodeAffinity);
  yield* validateIfSet(affinity.podAffinity, path.child('podAffinity'), validatePodAffinity);
  yield* validateIfSet(affinity.podAntiAffinity, path.child('podAntiAffinity'), validatePodAffinity);
}

function* validateTolerationValue(toleration: Toleration, path: FieldPath): FieldErrors {
  const {operator = 'Equal', value = ''} = toleration;
  const problems = checkLabelValue(value);
  if (operator === 'Equal' && problems.length > 0) yield invalidValue(path, value, problems.join(';'));
  if (operator === 'Exists' && value !== '') {
    yield invalidValue(path, value, "value must be empty when `operator` is 'Exists'");
  }
}

/** Validates tolerations (ValidateTolerations). */
export function* validateToleration(toleration: Toleration, path: FieldPath): FieldErrors {
  const {key = '', operator = '', effect = '', tolerationSeconds} = toleration;
  if (key !== '') yield* validateLabelName(key, path.child('key'));
  else if (operator !== 'Exists') {
    const rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    yield invalidValue(path.child('operator'), operator, rule);
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    const rule = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    yield invalidValue(path.child('effect'), effect, rule);
  }
  yield* validateTolerationValue(toleration, path.child('operator'));
}

function* validateSpreadConstraint(constraint: TopologySpreadConstraint, path: FieldPath): FieldErrors {
  const {maxSkew, topologyKey, whenUnsatisfiable, minDomains, labelSelector} = constraint;
  yield* validatePositive(maxSkew, path.child('maxSkew'));
  if (topologyKey === '') yield requiredValue(path.child('topologyKey'), 'can not be empty');
  if (minDomains !== undefined) {
    const at = path.child('minDomains');
    yield* validatePositive(minDomains, at);
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      const rule = 'can only use minDomains if whenUnsatisfiable=DoNotSchedule, not';
      yield invalidValue(at, minDomains, `${rule} ${whenUnsatisfiable}`);
    }
  }
  yield* validateLabelKeys(constraint, path);
  yield* validateLabelSelector(labelSelector, path.child('labelSelector'));
}

/** Validates topology spread constraints (validateTopologySpreadConstraints). */
export function* validateSpreadConstraints(
  constraints: readonly TopologySpreadConstraint[],
  path: FieldPath,
): FieldErrors {
  yield* validateEach(constraints, path, validateSpreadConstraint);
  const seen = new Set<string>();
  for (const [index, {topologyKey, whenUnsatisfiable}] of constraints.entries()) {
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    if (seen.has(pair))
      yield duplicateValue(path.index(index).child('{topologyKey, whenUnsatisfiable}'), pair);
    seen.add(pair);
  }
}
