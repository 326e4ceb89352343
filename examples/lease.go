// lease.go SESSION COMMAND...: run one agent with a temp directory of its own, and say what became of it. Complete.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

type answer struct {
	Ok    bool
	Error *struct{ Code, Message string }
	Data  struct {
		Path    string
		Start   int64
		Env     map[string]string
		Removed []struct{ Path string }
		Kept    []struct{ Path, Reason string }
	}
}

func tmpwarden(words ...string) (found answer) {
	out, _ := exec.Command("tmpwarden", append(words, "--json")...).Output()
	if err := json.Unmarshal(out, &found); err != nil {
		panic(err)
	}
	if !found.Ok {
		panic(found.Error.Code + ": " + found.Error.Message)
	}
	return found
}

func main() {
	owner := []string{"--session", os.Args[1], "--pid", strconv.Itoa(os.Getpid())} // if we crash, the next clean-up does the rest
	lease := tmpwarden(append([]string{"lease", "open", "--agent", "claude"}, owner...)...).Data
	agent := exec.Command(os.Args[2], os.Args[3:]...)
	agent.Env = os.Environ()
	for name, value := range lease.Env {
		agent.Env = append(agent.Env, name+"="+value)
	}
	agent.Stdin, agent.Stdout, agent.Stderr = os.Stdin, os.Stdout, os.Stderr
	agent.Run()
	owner = append(owner, "--start", strconv.FormatInt(lease.Start, 10))
	closed := tmpwarden(append([]string{"lease", "close"}, owner...)...).Data
	removed := []string{}
	for _, each := range closed.Removed {
		removed = append(removed, each.Path)
	}
	status := agent.ProcessState.ExitCode()
	told, _ := json.Marshal(map[string]any{"status": status, "removed": removed, "kept": closed.Kept})
	fmt.Println(string(told))
	os.Exit(status)
}
