// The end of the job: GitHub hands over what main.js noted.
"use strict";
const { clean, input } = require("./clean.js");

const tmpwarden = process.env.STATE_tmpwarden;
if (tmpwarden && input("after") === "true") clean(tmpwarden, "after");
