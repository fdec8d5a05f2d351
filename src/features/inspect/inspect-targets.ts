import type {JsonObject} from '../../format/json.js';
import type {Target} from '../../operations/resolve/target.js';
import type {
  CommandContext,
  DialectContext,
  ResolvingContext,
  RuntimeContext,
} from '../../cli/command/contexts.js';
import {forEachTarget} from '../../cli/command/for-each-target.js';
import {INSPECT_FORMATS, type InspectFlags} from './inspect-flags.js';
import {formatSorted, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import type {
  ContainerId,
  ContainerStatusResponse,
  ImageStatusResponse,
  PodSandboxId,
  PodSandboxStatusResponse,
} from '../../cri/index.js';
import type {ContainerFilterValues, SandboxFilterValues} from '../containers/filter-flags.js';
import type {ContainerChoice} from '../targets/choose-pod-container.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly inspect: InspectStrategy<
      ContainerId,
      ContainerStatusResponse,
      ContainerFilterValues & ContainerChoice & InspectFlags
    >;
    readonly inspecti: InspectStrategy<string, ImageStatusResponse, InspectImageFlags>;
    readonly inspectp: InspectStrategy<
      PodSandboxId,
      PodSandboxStatusResponse,
      SandboxFilterValues & InspectFlags
    >;
  }
}

/** Values of the flags of `inspecti`. */
interface InspectImageFlags extends InspectFlags {
  readonly name?: string | undefined;
  readonly filter?: readonly string[] | undefined;
}

/** Returns one object; `verbose` asks for runtime-specific info too. */
type Fetch<Id, Response> = (id: Id, verbose: boolean) => Promise<Response>;

/** Differences of an inspect command between the dialects. */
export interface InspectStrategy<Id, Response, Flags> {
  /** True if `-o` is checked before the runtime is called. */
  readonly checksFormatFirst: boolean;
  /** Returns the objects that the command line names. */
  targets(
    services: RuntimeContext & DialectContext & ResolvingContext,
    refs: readonly string[],
    flags: Flags,
  ): Promise<readonly Target<Id>[]>;
  /** Fetches the targets, and prints those that are not printed together afterwards. */
  fetchAll(
    services: CommandContext,
    flags: InspectFlags,
    targets: readonly Target<Id>[],
    fetch: Fetch<Id, Response>,
  ): Promise<readonly Response[]>;
}

/** Number of objects fetched concurrently. */
const PARALLELISM = 8;

/** Returns kcri's inspection: an object that cannot be inspected is reported and does not hide the others. */
export function kcriInspect<Id, Response, Flags>(
  targets: InspectStrategy<Id, Response, Flags>['targets'],
): InspectStrategy<Id, Response, Flags> {
  return {
    checksFormatFirst: true,
    targets,
    fetchAll: async (services, flags, found, fetch) => {
      const responses = new Map<Target<Id>, Response>();
      const fetchOne = async (id: Id, _ref: string, target: Target<Id>): Promise<void> => {
        responses.set(target, await fetch(id, !flags.quiet));
      };
      await forEachTarget(services, found, fetchOne, PARALLELISM);
      return found.flatMap((target) => responses.get(target) ?? []);
    },
  };
}

/** One kind of object to inspect. */
export interface Inspection<Id, Response, Flags> {
  readonly strategy: InspectStrategy<Id, Response, Flags>;
  readonly refs: readonly string[];
  readonly fetch: Fetch<Id, Response>;
  readonly json: (response: Response) => JsonObject;
  /** Returns the object as text for people. */
  readonly text: (response: Response, nowMs: number) => string;
}

/** Prints one object for one target, and a list in the targets' order for several. Rejects with UsageError. */
export async function inspectTargets<Id extends string, Response, Flags extends InspectFlags>(
  services: CommandContext,
  flags: Flags,
  {strategy, refs, fetch, json, text}: Inspection<Id, Response, Flags>,
): Promise<void> {
  const {context, out} = services;
  if (flags.explain === true) {
    const {EXPLAIN_FORMATS, explainObjects} = await import('./explain-objects.js');
    const form = await parseOutputFormat(flags, EXPLAIN_FORMATS);
    await explainObjects(services, form, await strategy.targets(services, refs, flags));
    return;
  }
  const parseForm = async () => await parseOutputFormat(flags, INSPECT_FORMATS, services);
  const early = strategy.checksFormatFirst ? await parseForm() : undefined;
  const targets = await strategy.targets(services, refs, flags);
  // Connects before any context is added to errors.
  await services.connections.default();
  const found = await strategy.fetchAll(services, flags, targets, fetch);
  if (found.length === 0) return;
  const form = early ?? (await parseForm());
  if (form.kind === 'table') {
    const nowMs = context.clock.now();
    out.printText(found.map((response) => text(response, nowMs)).join('\n'));
    return;
  }
  const objects = found.map(json);
  out.printData(await formatSorted(form, targets.length === 1 ? (objects[0] ?? {}) : objects));
}
