import type {Json} from '../../../../format/json.js';
import {joinPath, type PathSegment, type Provenance} from './provenance.js';

/** Leaf of a message: a scalar, a list of scalars, or an empty object. */
export interface Leaf {
  readonly path: readonly PathSegment[];
  readonly value: Json;
}

/** What a rule knows about its leaf. */
export interface RuleLeaf {
  readonly value: Json;
  /** Segments below the rule's place in the tree. */
  readonly below: readonly PathSegment[];
  /** Message that contains the leaf. */
  readonly message: Json;
}

/** Returns the inputs of a field; undefined for a field or value that the rule does not know. */
export type Rule<Scope> = (scope: Scope, leaf: RuleLeaf) => Provenance | undefined;

/** Rules by the names of fields; a rule in place of a branch explains all fields below it. */
export interface RuleTree<Scope> {
  readonly [field: string]: Rule<Scope> | RuleTree<Scope>;
}

/** Returns all leaves of a value. */
export function leavesOf(value: Json, path: readonly PathSegment[] = []): readonly Leaf[] {
  if (typeof value !== 'object' || value === null) return [{path, value}];
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object')) return [{path, value}];
    return value.flatMap((item: Json, index) => leavesOf(item, [...path, index]));
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return [{path, value}];
  return entries.flatMap(([key, item]) => leavesOf(item, [...path, key]));
}

/** Field of a call with its value and inputs. */
export interface ExplainedField extends Provenance {
  readonly path: string;
  readonly value: Json;
}

/** Explains the leaves of a message, in their order; those without a rule are absent. */
export function explainLeaves<Scope>(
  message: Json,
  rules: RuleTree<Scope>,
  scope: Scope,
): readonly ExplainedField[] {
  return leavesOf(message).flatMap(({path, value}) => {
    const found = findRule(rules, path);
    const provenance = found?.rule(scope, {value, message, below: found.below});
    return provenance === undefined ? [] : [{path: joinPath(path), value, ...provenance}];
  });
}

function findRule<Scope>(
  tree: RuleTree<Scope>,
  path: readonly PathSegment[],
): {readonly rule: Rule<Scope>; readonly below: readonly PathSegment[]} | undefined {
  const [segment, ...below] = path;
  if (segment === undefined || !Object.hasOwn(tree, segment)) return undefined;
  const next = tree[segment];
  if (next === undefined) return undefined;
  return typeof next === 'function' ? {rule: next, below} : findRule(next, below);
}
