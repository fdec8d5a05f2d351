import * as Flags from '@oclif/core/flags';
import {SystemError, UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/base-command.js';
import {documentText} from '../cli/documents.js';
import {listFlag} from '../cli/flags.js';
import type {FormFlags} from '../cli/form.js';
import {formOf, messageText, outputFlag, templateFlag, type Form} from '../cli/formats.js';
import {eventLine} from '../cli/views/events.js';
import {podEventLine, subjectOf} from '../cli/views/pod-events.js';
import type {RuntimeService} from '../cri/index.js';
import {
  EVENT_TYPES,
  EventNames,
  isWantedEvent,
  needsNames,
  type EventFilter,
  type EventType,
  type NamedEvent,
} from '../operations/events.js';
import {TemplateError} from '../format/template-error.js';
import {namePattern, parseLabels} from '../operations/filters.js';
import {parseSince} from '../operations/logs/since.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['table', 'json', 'yaml'] as const;
type EventForm = Form<(typeof FORMATS)[number]>;

/** Which events are shown, and from when on. */
interface Choice {
  readonly filter: EventFilter;
  /** Nanoseconds since the epoch. */
  readonly since: bigint;
}

export default class Events extends BaseCommand {
  static override summary = 'Show what happens to containers and pods, as it happens';
  static override description =
    'One line an event: for people on a terminal, JSON in a pipe. Runtimes repeat events of the last minutes at ' +
    'first; those are left out unless --since asks for them. Goes on until Ctrl-C.\n\n' +
    'For people the events of the pods that kcri made stand among them, as their kubelet or "kcri sync" tells of ' +
    'them; --type leaves them out, and "kcri get events" shows these alone, also as JSON.';
  static override usage = 'events [OPTIONS]';
  static override aliases = ['event'];
  static override examples = [
    '<%= config.bin %> events',
    '<%= config.bin %> events --pod team/web --type stopped,deleted',
    "<%= config.bin %> events | jq -r '.containerId'",
    '<%= config.bin %> events --since 5m --label app=web -o yaml',
  ];
  static override flags = {
    output: outputFlag(FORMATS, 'table on a terminal, json elsewhere'),
    template: templateFlag,
    container: listFlag({helpValue: 'NAME', description: 'Only of a container, by id, name or POD/NAME.'}),
    pod: listFlag({
      char: 'p',
      helpValue: 'NAME',
      description: 'Only of a pod and its containers, by id or name.',
    }),
    type: listFlag({helpValue: EVENT_TYPES.join('|'), description: 'Only events of a type.'}),
    namespace: Flags.string({description: 'Only in namespaces that match a regular expression.'}),
    label: listFlag({description: 'Only where the container or its pod has a label, as KEY=VALUE.'}),
    since: Flags.string({
      helpValue: 'TIME',
      description: 'Also what the runtime repeats since: 10m, 2026-11-20T14:00:00Z. [default: now]',
    }),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Events);
    const form = await this.#form(flags);
    const nowMs = this.context.clock.now();
    const choice = {
      filter: {
        types: flags.type?.map(eventType),
        containers: flags.container,
        pods: flags.pod,
        namespace: namePattern(flags.namespace),
        labels: parseLabels(flags.label),
      },
      since: flags.since === undefined ? BigInt(nowMs) * 1_000_000n : parseSince(flags.since, nowMs),
    };
    const {runtime} = await this.cri();
    const shown = this.compat ? this.#showAll(runtime, form) : this.#show(runtime, form, choice);
    const end = new AbortController();
    const kept = !this.compat && form.kind === 'table' ? this.#showKept(choice, end.signal) : undefined;
    try {
      await withContext('getting container events', shown);
    } finally {
      end.abort();
      await kept;
    }
  }

  /** What happens to kcri's own pods, as it is told. Never rejects: it stands beside what was asked for. */
  async #showKept({filter, since}: Choice, end: AbortSignal): Promise<void> {
    const {keptEvents} = await import('../cli/kept-events.js');
    const {rootDir} = this;
    const {clock} = this.context;
    const signal = AbortSignal.any([this.signal, this.stdout.closed, end]);
    const sinceMs = Number(since / 1_000_000n);
    try {
      for await (const kept of keptEvents({rootDir, clock, sinceMs, signal}))
        if (isWantedEvent(subjectOf(kept), filter)) {
          this.show(`${podEventLine(kept)}\n`);
          await this.stdout.ready(signal);
        }
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  /** Unless told otherwise for people on a terminal, for programs elsewhere, and as crictl always JSON. */
  async #form(flags: FormFlags): Promise<EventForm> {
    if (this.compat) return await formOf(flags, ['json', 'yaml'], this);
    if (flags.output !== undefined || flags.template !== undefined) return await formOf(flags, FORMATS, this);
    return {kind: this.stdout.isTerminal ? 'table' : 'json'};
  }

  /** As crictl: everything, until the runtime ends it; what a template does not fit is data as well. */
  async #showAll(runtime: RuntimeService, form: EventForm): Promise<void> {
    const signal = AbortSignal.any([this.signal, this.stdout.closed]);
    try {
      for await (const event of runtime.getContainerEvents({}, {signal})) {
        if (form.kind === 'table') continue;
        const text = messageText(form, 'ContainerEventResponse', event);
        this.print(
          await text.catch((error: unknown) => {
            if (error instanceof TemplateError)
              return `failed to format container event with the error: ${error.message}`;
            throw error;
          }),
        );
        await this.stdout.ready(signal);
      }
    } catch (error) {
      if (!this.stdout.closed.aborted) throw error;
    }
  }

  /** Ctrl-C and a reader that goes away end it; that the runtime ends it is an error. */
  async #show(runtime: RuntimeService, form: EventForm, choice: Choice): Promise<void> {
    const signal = AbortSignal.any([this.signal, this.stdout.closed]);
    try {
      const names = new EventNames();
      if (form.kind === 'table' || needsNames(choice.filter)) await names.learn(runtime, signal);
      let leftOut = false;
      for await (const event of runtime.getContainerEvents({}, {signal})) {
        const named = names.name(event);
        if (!isWantedEvent(named, choice.filter)) continue;
        if (event.createdAt >= choice.since) await this.#write(form, named);
        else if (!leftOut) {
          leftOut = true;
          this.note('events from before are left out; --since 10m shows those of ten minutes');
        }
        await this.stdout.ready(signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      return;
    }
    if (!signal.aborted)
      throw new SystemError('the runtime has ended the stream of events', {
        hint: 'it was stopped or restarted; call "kcri events" again',
      });
  }

  /** Not every event has all that a template asks for. */
  async #write(form: EventForm, named: NamedEvent): Promise<void> {
    try {
      this.stdout.write(
        form.kind === 'table'
          ? `${eventLine(named)}\n`
          : await documentText(form, 'ContainerEventResponse', named.event),
      );
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.fail(error);
    }
  }
}

function eventType(word: string): EventType {
  const known = EVENT_TYPES.find((type) => type === word.toLowerCase());
  if (known === undefined)
    throw new UsageError(`--type should be one of ${EVENT_TYPES.join(', ')}, not "${word}"`);
  return known;
}
