import type {NodeSelector, NodeSelectorRequirement, NodeSelectorTerm} from '../../api/types/v1-scheduling.js';
import type {NodeFacts} from '../contract/node-facts.js';

/** Name and labels of a node. */
export type NodeIdentity = Pick<NodeFacts, 'labels' | 'nodeName'>;

/** Reports whether one of the selector's terms matches the node (MatchNodeSelectorTerms). */
export function matchesNodeSelector({nodeSelectorTerms}: NodeSelector, node: NodeIdentity): boolean {
  return nodeSelectorTerms.some((term) => termMatches(term, node));
}

/** Reports whether the term matches the node; an empty term matches no node. */
function termMatches(
  {matchExpressions = [], matchFields = []}: NodeSelectorTerm,
  node: NodeIdentity,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => isMet(requirement, labelOf(node, requirement.key))) &&
    // metadata.name is the only supported field.
    matchFields.every((requirement) => isMet(requirement, node.nodeName))
  );
}

/** Returns a label of a node. */
export function labelOf({labels}: NodeIdentity, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}

/** Reports whether the label value meets the requirement (labels.Requirement Matches). */
function isMet({operator, values = []}: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compares(value, values, (has, wants) => has > wants);
    case 'Lt':
      return compares(value, values, (has, wants) => has < wants);
    default:
      return operator satisfies never;
  }
}

const WHOLE_NUMBER = /^[+-]?\d{1,18}$/;

function compares(
  value = '',
  [wanted = '']: readonly string[],
  test: (has: bigint, wants: bigint) => boolean,
): boolean {
  if (!WHOLE_NUMBER.test(value) || !WHOLE_NUMBER.test(wanted)) return false;
  return test(BigInt(value), BigInt(wanted));
}
