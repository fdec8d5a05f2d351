import {ConfigError, messageOf} from '../../../base/errors.js';
import {parseGoYaml} from '../../../format/go-yaml/parser.js';
import type {Configs} from '../../../operations/container-configs/parse-config-file.js';
import {decodeGoJson} from './decode-go-json.js';
import {toGoJson, type GoJson} from './go-json-value.js';
import {decodeGoYaml} from './go-yaml-tree.js';

/**
 * Decodes the first document of a config file as crictl does: sigs.k8s.io/yaml makes JSON of it, and Go's encoding/json
 * decodes that. Throws ConfigError with their texts.
 */
export function decodeCrictlConfig<Name extends keyof Configs>(name: Name, text: string): Configs[Name] {
  return decodeGoJson(name, yamlToJson(name, text));
}

function yamlToJson(name: keyof Configs, text: string): GoJson {
  const parsed = parseGoYaml(text, 2);
  try {
    if ('error' in parsed) throw new ConfigError(parsed.error);
    return parsed.root === undefined ? null : toGoJson(decodeGoYaml(parsed.root), {kind: 'message', name});
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(`error converting YAML to JSON: ${messageOf(error)}`, {cause: error});
  }
}
