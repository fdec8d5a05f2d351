import {anySignal} from '../../base/async/any-signal.js';
import {SystemError, UsageError} from '../../base/errors.js';
import {isCrio} from '../../operations/is-crio.js';
import type {RuntimeService} from '../../cri/index.js';
import {TemplateError} from '../../format/template-error.js';
import {
  EventNameResolver,
  matchesEventFilter,
  needsNames,
  type EventFilter,
  type NamedEvent,
} from '../../operations/events/container-events.js';
import type {
  CommandContext,
  DialectContext,
  NameContext,
  OutputContext,
  ReportContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {formatDocument} from '../../cli/output/format-document.js';
import type {OutputFlagValues, OutputFormat} from '../../cli/output/output-format.js';
import {parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {eventLine} from './event-line.js';
import {eventSubject, podEventLine} from './event-table.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly events: EventsStrategy;
  }
}

/** Output formats of events. */
export const EVENT_FORMATS = ['table', 'json', 'yaml'] as const;

/** Output format of events. */
export type EventForm = OutputFormat<(typeof EVENT_FORMATS)[number]>;

/** Events to show. */
export interface EventSelection {
  readonly filter: EventFilter;
  /** Time of the first event, in ns since the epoch. */
  readonly since: bigint;
}

/** Differences of `events` between the dialects. */
export interface EventsStrategy {
  /** Returns the output format of events. Rejects with UsageError. */
  parseForm(
    services: DialectContext & NameContext & OutputContext & ReportContext & SettingsContext,
    flags: OutputFlagValues,
  ): Promise<EventForm>;
  /** Shows the events of the runtime until it is interrupted. Rejects with KcriError. */
  show(
    services: OutputContext & ReportContext & SignalContext,
    runtime: RuntimeService,
    form: EventForm,
    selection: EventSelection,
  ): Promise<void>;
  /** Shows recorded events of kcri's pods until `end` aborts. Never rejects. */
  showRecorded(services: CommandContext, selection: EventSelection, end: AbortSignal): Promise<void>;
}

/** kcri's events. */
export const KCRI_EVENTS: EventsStrategy = {
  parseForm: async (services, flags) => {
    // Formatted for people on a terminal, and for programs elsewhere; a saved node has no events as JSON.
    if (flags.format !== undefined) return await parseOutputFormat(flags, EVENT_FORMATS, services);
    const isTable = services.out.stdout.isTerminal || (await services.settings.isSaved());
    const {output = isTable ? 'table' : 'json', template} = flags;
    // Other commands take the format from --template; a stream that waits for events would hide a missing -o.
    if (template !== undefined && !/^(go-template|jsonpath|custom-columns)/.test(output))
      throw new UsageError(`template can't be used with "${output}" format`, {hint: 'add -o go-template'});
    return await parseOutputFormat({...flags, output}, EVENT_FORMATS, services);
  },
  show: showRuntimeEvents,
  showRecorded: showRecordedEvents,
};

/**
 * Shows events until Ctrl-C or a closed pipe ends the command without an error. Rejects if the runtime ends the stream.
 */
async function showRuntimeEvents(
  services: OutputContext & ReportContext & SignalContext,
  runtime: RuntimeService,
  form: EventForm,
  {filter, since}: EventSelection,
): Promise<void> {
  const {out, report} = services;
  using either = anySignal(services.signal, out.stdout.closed);
  const {signal} = either;
  try {
    const names = new EventNameResolver();
    if (form.kind === 'table' || needsNames(filter)) await names.load(runtime, signal);
    let skipsOld = false;
    for await (const event of runtime.getContainerEvents({}, {signal})) {
      const named = names.name(event);
      if (!matchesEventFilter(named, filter)) continue;
      if (event.createdAt >= since) await writeEvent(services, form, named);
      else if (!skipsOld) {
        skipsOld = true;
        report.info('earlier events are omitted; use --since=10m to include those of the last ten minutes');
      }
      await out.stdout.ready(signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return;
  }
  if (!signal.aborted) throw await streamEndedError(runtime, services.signal);
}

/**
 * Returns the error for an event stream that the runtime ended. CRI-O ends it at once unless events are enabled
 * (server/container_events.go); a runtime that was stopped does not respond.
 */
export async function streamEndedError(runtime: RuntimeService, signal: AbortSignal): Promise<SystemError> {
  const needsSetting = await isCrio(runtime, signal).catch(() => false);
  return new SystemError('the runtime closed the event stream', {
    hint: needsSetting
      ? 'CRI-O sends events only with enable_pod_events = true in the table [crio.runtime] of its ' +
        'configuration; if it is set, CRI-O was restarted: run "kcri events" again'
      : 'the runtime was stopped or restarted; run "kcri events" again',
  });
}

/** Writes an event, and reports one that the template cannot render. */
async function writeEvent(
  {out, report}: OutputContext & ReportContext,
  form: EventForm,
  named: NamedEvent,
): Promise<void> {
  try {
    out.printData(
      form.kind === 'table'
        ? `${eventLine(named)}\n`
        : await formatDocument(form, 'ContainerEventResponse', named.event),
    );
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    report.fail(error);
  }
}

async function showRecordedEvents(
  {context: {clock}, out, report, settings, signal: interrupted}: CommandContext,
  {filter, since}: EventSelection,
  end: AbortSignal,
): Promise<void> {
  // Those of this machine happened on another node.
  if ((await settings.remoteEndpoint()) !== undefined) return;
  const {rootDir} = settings;
  const {followRecordedEvents} = await import('./recorded-events.js');
  using either = anySignal(interrupted, out.stdout.closed, end);
  const {signal} = either;
  const sinceMs = Number(since / 1_000_000n);
  try {
    for await (const recorded of followRecordedEvents({rootDir, clock, sinceMs, signal}))
      if (matchesEventFilter(eventSubject(recorded), filter)) {
        out.printText(`${podEventLine(recorded)}\n`);
        await out.stdout.ready(signal);
      }
  } catch (error) {
    if (!signal.aborted) report.fail(error);
  }
}
