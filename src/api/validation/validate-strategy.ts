import type {FieldErrors} from '../field-error.js';
import {forbidden, invalidValue, requiredValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import type {IntOrString} from '../types/v1-meta.js';
import type {
  DaemonSetUpdateStrategy,
  DeploymentStrategy,
  RollingUpdate,
  StatefulSetUpdateStrategy,
} from '../types/v1-workloads.js';
import {validateNonNegative} from './field-validators.js';

const PERCENT = /^[0-9]+%$/;
const NOT_A_PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Requires a number of at least zero, or a percentage (ValidatePositiveIntOrPercent). */
function* validateAmount(amount: IntOrString, path: FieldPath): FieldErrors {
  if (typeof amount === 'number') yield* validateNonNegative(amount, path);
  else if (!PERCENT.test(amount)) yield invalidValue(path, amount, NOT_A_PERCENT);
}

/** Requires a percentage of at most 100 (IsNotMoreThan100Percent). */
function* validateShare(amount: IntOrString, path: FieldPath): FieldErrors {
  if (typeof amount === 'string' && PERCENT.test(amount) && Number.parseInt(amount, 10) > 100)
    yield invalidValue(path, amount, 'must not be greater than 100%');
}

/** Returns the number of an amount; a malformed one is zero (getIntOrPercentValue). */
function numberOf(amount: IntOrString): number {
  if (typeof amount === 'number') return amount;
  return /^[-+]?\d+%?$/.test(amount) ? Number.parseInt(amount, 10) : 0;
}

/** Validates the strategy of a Deployment (ValidateDeploymentStrategy). */
export function* validateDeploymentStrategy(
  {type, rollingUpdate}: DeploymentStrategy,
  path: FieldPath,
): FieldErrors {
  const at = path.child('rollingUpdate');
  if (rollingUpdate === undefined) return;
  if (type === 'Recreate') yield forbidden(at, "may not be specified when strategy `type` is 'Recreate'");
  if (type !== 'RollingUpdate') return;
  const {maxUnavailable = 0, maxSurge = 0} = rollingUpdate;
  yield* validateAmount(maxUnavailable, at.child('maxUnavailable'));
  yield* validateAmount(maxSurge, at.child('maxSurge'));
  if (numberOf(maxUnavailable) === 0 && numberOf(maxSurge) === 0)
    yield invalidValue(at.child('maxUnavailable'), maxUnavailable, 'may not be 0 when `maxSurge` is 0');
  yield* validateShare(maxUnavailable, at.child('maxUnavailable'));
}

function* validateDaemonSetUpdate(
  {maxUnavailable = 0, maxSurge = 0}: RollingUpdate,
  path: FieldPath,
): FieldErrors {
  yield* validateAmount(maxUnavailable, path.child('maxUnavailable'));
  yield* validateAmount(maxSurge, path.child('maxSurge'));
  yield* validateShare(maxUnavailable, path.child('maxUnavailable'));
  yield* validateShare(maxSurge, path.child('maxSurge'));
  const hasUnavailable = numberOf(maxUnavailable) !== 0;
  const hasSurge = numberOf(maxSurge) !== 0;
  if (hasUnavailable && hasSurge)
    yield invalidValue(path.child('maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero');
  if (!hasUnavailable && !hasSurge)
    yield requiredValue(path.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0');
}

/** Validates the update strategy of a DaemonSet (ValidateDaemonSetUpdateStrategy). */
export function* validateDaemonSetStrategy(
  {type, rollingUpdate}: DaemonSetUpdateStrategy,
  path: FieldPath,
): FieldErrors {
  if (type === 'RollingUpdate' && rollingUpdate !== undefined)
    yield* validateDaemonSetUpdate(rollingUpdate, path.child('rollingUpdate'));
}

/** Validates the update strategy of a StatefulSet (ValidateStatefulSetSpec). */
export function* validateStatefulSetStrategy(
  {type = 'RollingUpdate', rollingUpdate}: StatefulSetUpdateStrategy,
  path: FieldPath,
): FieldErrors {
  const at = path.child('rollingUpdate');
  if (rollingUpdate === undefined) return;
  if (type === 'OnDelete') {
    yield invalidValue(at, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'");
    return;
  }
  // The API server drops maxUnavailable, which has a feature gate that is off.
  yield* validateNonNegative(rollingUpdate.partition, at.child('partition'));
}
