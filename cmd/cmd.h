/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h - the door of cmd/: what every applet is made of
 *
 * An applet is one row {name, main, options, ...} in main.c's table and one
 * file of its own.  Its main() parses its options, opens inputs and outputs,
 * drives codecs of filters/ and answers with say_status().  File descriptors,
 * threads, buffers, messages and the exit status belong to this folder; none
 * of it is known below.
 *
 *	say.h		messages, exit status
 *	opt.h		options as a table: parsing, help, completions
 *	io.h		inputs, safe outputs, signals, names of files
 *	pipe.h		the ordered parallel pipeline
 *	feed.h		an input as a codec's source, an output as its sink
 *	report.h	JSON, progress, numbers for people
 *	machine.h	how many CPUs and how much memory there are
 */
#ifndef CMD_H
#define CMD_H

#include "feed.h"
#include "filter.h"
#include "io.h"
#include "machine.h"
#include "opt.h"
#include "pipe.h"
#include "report.h"
#include "say.h"

#endif
