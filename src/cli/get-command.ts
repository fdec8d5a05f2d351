import * as Flags from '@oclif/core/flags';
import type {PodRecord} from '../kubelet/index.js';
import {outputFlag, templateFlag, type Format} from './formats.js';
import {POD_CHOICE, SeenPodsCommand, type PodChoiceValues} from './seen-pods-command.js';
import {repeated} from './watch.js';

/** The flags of commands that list what there is of kcri's pods, kubectl's; `watch` says what a watch shows. */
export function getFlags(formats: readonly Format[], watch: string) {
  return {
    ...POD_CHOICE,
    'all-namespaces': Flags.boolean({
      char: 'A',
      description: 'Show the namespaces of the pods, of all namespaces.',
    }),
    'no-headers': Flags.boolean({description: 'Leave the names of the columns out.'}),
    watch: Flags.boolean({char: 'w', description: watch}),
    output: outputFlag(formats),
    template: templateFlag,
  };
}

/** The pods that words and flags name. */
export interface PodsToShow {
  readonly words: readonly string[];
  readonly choice: PodChoiceValues;
  readonly records: readonly PodRecord[];
  /** The namespace is shown when it is asked for, and when it tells pods apart from those of `default`. */
  readonly showsNamespace: boolean;
}

/** How often a watch looks: as often as the kubelet asks a runtime what has changed. */
const WATCH_MS = 1000;

/** What commands share that list what there is of kcri's pods, once or again and again. */
export abstract class GetCommand extends SeenPodsCommand {
  /** Undefined when of those that are named none is there, which has been told. */
  protected async podsToShow(
    words: readonly string[],
    flags: PodChoiceValues & {readonly 'all-namespaces': boolean},
  ): Promise<PodsToShow | undefined> {
    const all = flags['all-namespaces'];
    const choice = all ? {...flags, namespace: undefined} : flags;
    const records = await this.chosenRecords(words, choice);
    if (words.length > 0 && records.length === 0) return undefined;
    const others = choice.namespace === undefined && records.some(({namespace}) => namespace !== 'default');
    return {words, choice, records, showsNamespace: all || others};
  }

  /** Has what `see` finds of the pods shown again and again, also of those that come later, until Ctrl-C. */
  protected async watchPods<T>(
    {words, choice}: PodsToShow,
    see: (records: readonly PodRecord[]) => Promise<T>,
    show: (seen: T) => Promise<void>,
  ): Promise<void> {
    const {clock} = this.context;
    const signal = AbortSignal.any([this.signal, this.stdout.closed]);
    const look = async (): Promise<T> => await see(await this.chosenRecords(words, choice, () => undefined));
    try {
      for await (const seen of repeated(look, {clock, pauseMs: WATCH_MS, signal})) {
        await show(seen);
        await this.stdout.ready(signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
