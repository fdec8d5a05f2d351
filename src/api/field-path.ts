/** One step from an object to a part of it: the name of a field, the index of an item or the key of a map entry. */
export type PathStep = string | number | {readonly key: string};

/** Path of a value in an object, in the API server's notation: `spec.containers[0].env[1].name`. */
export class FieldPath {
  readonly steps: readonly PathStep[];

  constructor(steps: readonly PathStep[] = []) {
    this.steps = steps;
  }

  /** Returns the path of a field of this object; several names descend several levels. */
  child(...names: readonly string[]): FieldPath {
    return new FieldPath([...this.steps, ...names]);
  }

  /** Returns the path of an item of this list. */
  index(index: number): FieldPath {
    return new FieldPath([...this.steps, index]);
  }

  /** Returns the path of an entry of this map, such as `metadata.annotations[note]`. */
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
