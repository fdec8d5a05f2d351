import type {FieldErrors} from '../field-error.js';
import {invalidValue, requiredValue, unsupportedValue} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import type {CronJob} from '../types/v1-workloads.js';
import {findScheduleProblem, findTimeZoneProblem} from './cron-schedule.js';
import {validateNonNegative} from './field-validators.js';
import {validateJobSpec} from './validate-job.js';

/** Maximum length of a name: its Jobs are named with a hyphen and the minute after it, in 63 characters. */
const LONGEST_NAME = 52;
const COUNTS = ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'] as const;

/** Validates a CronJob, except for the template of its pods (ValidateCronJobCreate). */
export function* validateCronJob({metadata: {name = ''}, spec}: CronJob): FieldErrors {
  const path = new FieldPath(['spec']);
  const {schedule, timeZone, jobTemplate} = spec;
  if (name.length > LONGEST_NAME)
    yield invalidValue(
      new FieldPath(['metadata', 'name']),
      name,
      `must be no more than ${LONGEST_NAME} characters`,
    );
  const problem = schedule === '' ? undefined : findScheduleProblem(schedule);
  if (schedule === '') yield requiredValue(path.child('schedule'));
  if (problem !== undefined) yield invalidValue(path.child('schedule'), schedule, problem);
  const zoneProblem = timeZone === undefined ? undefined : findTimeZoneProblem(timeZone);
  if (zoneProblem !== undefined) yield invalidValue(path.child('timeZone'), timeZone, zoneProblem);
  for (const count of COUNTS) yield* validateNonNegative(spec[count], path.child(count));
  const at = path.child('jobTemplate', 'spec');
  yield* validateJobSpec(jobTemplate.spec, at);
  const {selector, manualSelector} = jobTemplate.spec;
  if (selector !== undefined)
    yield invalidValue(at.child('selector'), selector, '`selector` will be auto-generated');
  if (manualSelector === true)
    yield unsupportedValue(at.child('manualSelector'), manualSelector, ['nil', 'false']);
}
