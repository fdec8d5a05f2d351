import {messageJsonSchema} from '../../cri/index.js';
import {formatJson} from '../../format/json.js';
import type {SchemaStrategy} from '../command/small-strategies.js';
import type {CommandServices} from '../command/command-services.js';
import {HelpRequest} from '../help-request.js';

const KCRI_SCHEMA: SchemaStrategy = {crictl: false, requiresSelection: false};

/** Prints the JSON schema of a config file's message. */
export async function printSchema(
  {dialect, out}: CommandServices,
  name: 'PodSandboxConfig' | 'ContainerConfig',
): Promise<void> {
  const {crictl} = await dialect.strategy('jsonschema', KCRI_SCHEMA);
  out.print(formatJson(messageJsonSchema(name, {crictl})));
}

/** Prints the selected schemas of `create` and `run`, by default that of the container config. */
export async function printContainerSchemas(
  services: CommandServices,
  flags: {readonly pod: boolean; readonly container: boolean},
): Promise<void> {
  const {requiresSelection} = await services.dialect.strategy('jsonschema', KCRI_SCHEMA);
  if (requiresSelection && !flags.pod && !flags.container) throw new HelpRequest(services.words);
  if (flags.pod) await printSchema(services, 'PodSandboxConfig');
  if (flags.container || !flags.pod) await printSchema(services, 'ContainerConfig');
}
