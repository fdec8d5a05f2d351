import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {EVENT_FORMATS, KCRI_EVENTS} from '../features/events/show-events.js';
import {FROM_FLAG, listFlag, nonEmptyFlags, withChoices} from '../cli/flags/flag-types.js';
import {NO_HEADERS_FLAG, outputFlags} from '../cli/output/parse-output-format.js';
import {EVENT_TYPES, type EventType} from '../operations/events/container-events.js';
import {parseLabels, parseNamePattern} from '../operations/filters/list-filters.js';
import {parseSince} from '../operations/logs/parse-since.js';
import {withContext} from '../operations/with-context.js';

export default class Events extends BaseCommand {
  static override nodes = 'one' as const;
  static override readsSeveralSaved = true;
  static override summary = 'Stream container and pod events';
  static override description =
    'Prints one event per line until interrupted: a table on a terminal, JSON otherwise. Events that ' +
    'the runtime replays from the last minutes are omitted unless requested with --since.\n\nThe table ' +
    'also contains the events of pods created by kcri, as recorded by their kubelet or "kcri sync"; ' +
    '--type omits them. To list only these events, also as JSON, use "kcri get events". A saved node has only these events.';
  static override usage = 'events [FLAGS]';
  static override aliases = ['event'];
  static override examples = [
    '<%= config.bin %> events',
    '<%= config.bin %> events --pod=team/web --type=stopped,deleted',
    '<%= config.bin %> events --since=5m --label=app=web -o yaml',
  ];
  static override flags = {
    ...outputFlags(EVENT_FORMATS, 'table on a terminal, json elsewhere'),
    ...NO_HEADERS_FLAG,
    ...FROM_FLAG,
    template: Flags.string({
      helpValue: 'TEMPLATE',
      description: 'Go template for each event; requires -o go-template.',
    }),
    ...nonEmptyFlags({
      container: listFlag({
        helpValue: 'CONTAINER',
        description: 'Select only events of this container, by ID, name or POD/NAME. Can be repeated.',
      }),
      pod: listFlag({
        char: 'p',
        helpValue: 'POD',
        description: 'Select only events of this pod and its containers, by ID or name. Can be repeated.',
      }),
      type: withChoices(
        listFlag({helpValue: 'TYPE', description: 'Select only events of this type.'}),
        EVENT_TYPES,
      ),
      namespace: Flags.string({
        helpValue: 'REGEX',
        description: 'Select only events in namespaces that match a regular expression.',
      }),
      label: listFlag({
        helpValue: 'KEY=VALUE',
        description: 'Select only events of containers or pods with this label. Can be repeated.',
      }),
      since: Flags.string({
        helpValue: 'TIME',
        description:
          'Include replayed events since this time, such as 10m or 2026-11-20T14:00:00Z. [default: now]',
      }),
    }),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Events);
    const {services} = this;
    const strategy = await this.dialect.strategy('events', KCRI_EVENTS);
    const form = await strategy.parseForm(services, flags);
    const nowMs = this.context.clock.now();
    const selection = {
      filter: {
        types: flags.type?.map(parseEventType),
        containers: flags.container,
        pods: flags.pod,
        namespace: await parseNamePattern(flags.namespace),
        labels: parseLabels(flags.label),
      },
      since: flags.since === undefined ? BigInt(nowMs) * 1_000_000n : parseSince(flags.since, nowMs),
    };
    const {runtime} = await this.cri();
    if (this.connections.saved !== undefined) {
      const {showSavedEvents} = await import('../features/get/saved-events.js');
      await showSavedEvents(services, form, {
        ...selection,
        since: flags.since === undefined ? 0n : selection.since,
      });
      return;
    }
    const shown = strategy.show(services, runtime, form, selection);
    const end = new AbortController();
    const recorded =
      form.kind === 'table' ? strategy.showRecorded(services, selection, end.signal) : undefined;
    try {
      await withContext('getting container events', shown);
    } finally {
      end.abort();
      await recorded;
    }
  }
}

/** Parses an event type. Throws UsageError if it is unknown. */
function parseEventType(word: string): EventType {
  const known = EVENT_TYPES.find((type) => type === word.toLowerCase());
  if (known === undefined)
    throw new UsageError(`invalid --type "${word}": must be one of ${EVENT_TYPES.join(', ')}`);
  return known;
}
