import {expect, test} from 'vitest';
import {commandPage, mainPage, type ManualCommand} from '../../../scripts/bundle/manual.mjs';

const globalFlags = {
  timeout: {type: 'option', char: 't', helpValue: 'DURATION', description: 'Deadline'},
} as const;
const options = {version: '1.2.3', globalFlags};

const stop: ManualCommand = {
  summary: 'Stop containers',
  description: 'Sends signals.\n\n.profile is not read',
  usage: 'stop [FLAGS] CONTAINER...',
  aliases: ['halt'],
  examples: ['<%= config.bin %> stop web'],
  args: {container: {description: 'Its ID'}},
  flags: {
    wait: {type: 'boolean', description: 'Wait for the end'},
    grace: {type: 'option', char: 'g', helpValue: 'SECONDS'},
    secret: {type: 'boolean', hidden: true},
  },
};

test('the page of a command has its texts, arguments and flags in roff', () => {
  expect(commandPage(['pods', 'stop'], stop, options))
    .toBe(String.raw`.TH KCRI\-PODS\-STOP 1 "November 2026" "kcri 1.2.3" "kcri manual"
.SH NAME
kcri\-pods\-stop \- Stop containers
.SH SYNOPSIS
.B kcri
stop [FLAGS] CONTAINER...
.SH DESCRIPTION
Sends signals.
.PP
\&.profile is not read
.SH ALIASES
halt
.SH ARGUMENTS
.TP
\fICONTAINER\fR
Its ID
.SH OPTIONS
.TP
\fB\-g\fR, \fB\-\-grace\fR=\fISECONDS\fR

.TP
\fB\-\-wait\fR
Wait for the end
.SH GLOBAL OPTIONS
For the flags that all commands accept, see
.BR kcri\-options (1).
.SH EXAMPLES
.PP
.EX
kcri stop web
.EE
.SH SEE ALSO
.BR kcri (1)
`);
});

test('the page of "options" describes the flags of all commands', () => {
  const page = commandPage(['options'], {summary: 'Show them'}, options);
  expect(page).toContain(
    '.SH GLOBAL OPTIONS\n.TP\n\\fB\\-t\\fR, \\fB\\-\\-timeout\\fR=\\fIDURATION\\fR\nDeadline\n',
  );
  expect(page).not.toContain('kcri\\-options (1)');
});

test('the page of kcri lists all commands', () => {
  const template = 'kcri @VERSION@\n.SH COMMANDS\n@COMMANDS@\n.SH SEE ALSO\n@PAGES@\n';
  expect(
    mainPage(
      template,
      [
        [['ps'], {summary: 'List'}],
        [['pods', 'stop'], stop],
      ],
      '1.2.3',
    ),
  ).toBe(
    String.raw`kcri 1.2.3
.SH COMMANDS
.TP
\fBps\fR
List
.TP
\fBpods stop\fR
Stop containers
.SH SEE ALSO
.BR kcri\-ps (1),
.BR kcri\-pods\-stop (1)
`,
  );
});
