export const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif;
  --back: #fff; --text: #1b1f24; --faint: #57606a; --line: #8c959f; --field: #fff; --box: #f3f5f7; --accent: #0a5cb0; --on-accent: #fff; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root {
  --back: #14181d; --text: #e6e9ec; --faint: #a3adb8; --line: #6b7681; --field: #1d232a; --box: #1d232a; --accent: #8ec1ff; --on-accent: #0b1a2b; --bad: #ff9a90 } }
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0 auto; padding: 1rem; max-width: 48rem; background: var(--back); color: var(--text) }
h1 { font-size: 1.4rem; margin: 0 } h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem }
header p { margin: 0 0 1rem; color: var(--faint); overflow-wrap: anywhere }
a { color: var(--accent) }
fieldset { border: 0; margin: 0; padding: 0; min-width: 0 }
legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
label { display: block; font-weight: 600; margin: .6rem 0 .2rem }
input, select, textarea, button, pre { font: inherit; color: inherit; border: 1px solid var(--line); border-radius: .4rem }
input:not([type=radio]), select, textarea { width: 100%; min-height: 2.75rem; padding: .4rem .6rem; background: var(--field) }
textarea { resize: vertical; display: block }
::placeholder { color: var(--faint); opacity: 1 }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: 0 1rem }
.choice { display: flex; flex-wrap: wrap; gap: 0 1.5rem; margin: .6rem 0 } .choice label { font-weight: 400; margin: 0; padding: .5rem 0 }
.row { display: flex; flex-wrap: wrap; gap: .6rem } .row input { flex: 1 1 12rem; width: auto }
button, #save { min-height: 2.75rem; padding: .4rem 1rem; background: var(--box); cursor: pointer }
#speak, #key-form button { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600 }
button:disabled { opacity: .5; cursor: default }
kbd { font: .75rem ui-monospace, monospace; border: 1px solid; border-radius: .25rem; padding: 0 .3rem; opacity: .8 }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
#key-form { border: 1px solid var(--line); border-radius: .6rem; padding: .4rem 1rem .6rem; margin-bottom: 1rem }
.note { color: var(--faint); font-size: .9rem; margin: .4rem 0 0 } .warning, #problem { color: var(--bad) }
#problem { border: 1px solid; border-radius: .4rem; padding: .5rem .8rem; margin: 0 0 1rem; overflow-wrap: anywhere }
#status { margin: 1rem 0 0 } #progress { margin: 0; color: var(--faint); font-variant-numeric: tabular-nums; min-height: 1.5em }
#result { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center } audio { flex: 1 1 16rem; min-width: 0; max-width: 100% }
#save { border: 1px solid var(--line); border-radius: .4rem; text-decoration: none; display: inline-flex; align-items: center }
.line button { min-width: 11.5rem }
.line { display: flex; gap: .6rem; align-items: start; margin-bottom: .6rem }
pre { flex: 1; min-width: 0; margin: 0; padding: .6rem; background: var(--box); font: .85rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 14rem; overflow-y: auto }
@media (max-width: 34rem) { .line { flex-direction: column } .line pre { width: 100% } .line button { min-width: 0 } #speak { flex: 1 } }
@media (pointer: coarse) { kbd { display: none } }
`;
