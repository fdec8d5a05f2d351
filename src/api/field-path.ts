/** One step from an object to a part of it: a field's name, a list's index or a map's key. */
export type PathStep = string | number | {readonly key: string};

/** Where something stands in an object, written as the API server writes it: `spec.containers[0].env[1].name`. */
export class FieldPath {
  readonly steps: readonly PathStep[];

  constructor(steps: readonly PathStep[] = []) {
    this.steps = steps;
  }

  /** The path of a field below this object; several names go down several levels. */
  child(...names: readonly string[]): FieldPath {
    return new FieldPath([...this.steps, ...names]);
  }

  /** The path of an item of this list. */
  index(index: number): FieldPath {
    return new FieldPath([...this.steps, index]);
  }

  /** The path of an entry of this map, such as `metadata.annotations[note]`. */
  key(key: string): FieldPath {
    return new FieldPath([...this.steps, {key}]);
  }

  toString(): string {
    return this.steps.map(formatStep).join('');
  }
}

function formatStep(step: PathStep, position: number): string {
  if (typeof step === 'string') return position === 0 ? step : `.${step}`;
  return `[${typeof step === 'number' ? step : step.key}]`;
}
