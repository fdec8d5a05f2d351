/**
 * Config file that does not exist, and that no process can create: as root, a test that saves the configuration would
 * create any other path and change the results of later tests.
 */
export const UNCREATABLE_CONFIG_FILE = '/proc/1/nonexistent/crictl.yaml';
