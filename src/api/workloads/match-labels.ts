import type {LabelSelector, LabelSelectorRequirement} from '../types/v1-meta.js';

type Labels = Readonly<Record<string, string>>;

function matchesRequirement({key, operator, values = []}: LabelSelectorRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
  }
}

/** Reports whether labels have all the entries of a map. */
export function matchesLabels(wanted: Labels, labels: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

/** Reports whether labels meet all conditions of a selector; an empty one matches all labels. */
export function matchesLabelSelector(
  {matchLabels = {}, matchExpressions = []}: LabelSelector,
  labels: Labels,
): boolean {
  return (
    matchesLabels(matchLabels, labels) &&
    matchExpressions.every((requirement) => matchesRequirement(requirement, labels))
  );
}
