import {messageJsonSchema} from '../../cri/index.js';
import {formatJson} from '../../format/json.js';
import type {DialectContext, NameContext, OutputContext} from '../../cli/command/contexts.js';
import {HelpRequest} from '../../cli/parsing/help-request.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly jsonschema: SchemaStrategy;
  }
}

/** Differences of the `jsonschema` commands. */
interface SchemaStrategy {
  /** True if the schema is limited to the fields that crictl knows. */
  readonly crictl: boolean;
  /** True if a flag must select one of several schemas. */
  readonly requiresSelection: boolean;
}

const KCRI_SCHEMA: SchemaStrategy = {crictl: false, requiresSelection: false};

/** Prints the JSON schema of a config file's message. */
export async function printSchema(
  {dialect, out}: DialectContext & OutputContext,
  name: 'PodSandboxConfig' | 'ContainerConfig',
): Promise<void> {
  const {crictl} = await dialect.strategy('jsonschema', KCRI_SCHEMA);
  out.print(formatJson(messageJsonSchema(name, {crictl})));
}

/** Prints the selected schemas of `create` and `run`, by default that of the container config. */
export async function printContainerSchemas(
  services: DialectContext & NameContext & OutputContext,
  flags: {readonly pod: boolean; readonly container: boolean},
): Promise<void> {
  const {requiresSelection} = await services.dialect.strategy('jsonschema', KCRI_SCHEMA);
  if (requiresSelection && !flags.pod && !flags.container) throw new HelpRequest(services.words);
  if (flags.pod) await printSchema(services, 'PodSandboxConfig');
  if (flags.container || !flags.pod) await printSchema(services, 'ContainerConfig');
}
